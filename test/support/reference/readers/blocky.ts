import { RE2JS } from "re2js";
import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** blocky: `*.name` with all below it, plain names alone, `/…/` by Go's RE2, in lower case. What an allow-list has is never blocked. */
export function readBlocky({ block, allow }: FormatFiles): BlockTest {
  const isBlocked = testOf(block);
  const isAllowed = testOf(allow);
  return (name) => !isAllowed(name) && isBlocked(name);
}

function testOf(text: string): BlockTest {
  const entries = new Set<string>();
  const expressions: RE2JS[] = [];
  for (const line of linesOf(text, "#"))
    if (line.length > 1 && line.startsWith("/") && line.endsWith("/"))
      expressions.push(compiled(line));
    else if (/^(?:\*\.)?[a-z0-9_.-]+$/.test(line)) entries.add(line);
    else throw new RefusedFile(line);
  return (name) =>
    entries.has(name) ||
    withAncestors(name).some((parent) => entries.has(`*.${parent}`)) ||
    expressions.some((expression) => expression.test(name));
}

function compiled(line: string): RE2JS {
  try {
    return RE2JS.compile(line.slice(1, -1));
  } catch {
    throw new RefusedFile(line);
  }
}
