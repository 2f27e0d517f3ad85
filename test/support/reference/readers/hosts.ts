import { isIP } from "node:net";
import { type AnswerTest, type BlockTest, type FormatFiles, answerOf } from "../format-files.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** hosts(5): an address, then names, each for itself alone. */
export function hostsAnswers({ block }: FormatFiles): AnswerTest {
  const names = new Map<string, string[]>();
  for (const line of linesOf(block, "#")) {
    const [address = "", ...others] = line.split(/\s+/);
    if (isIP(address) === 0 || others.length === 0) throw new RefusedFile(line);
    const record = `${isIP(address) === 4 ? "A" : "AAAA"} ${address}`;
    for (const other of others) {
      const name = other.toLowerCase();
      names.set(name, [...(names.get(name) ?? []), record]);
    }
  }
  return (name) => answerOf(names.get(name) ?? []);
}

/** A name a line, each for itself alone. */
export function readNames({ block }: FormatFiles): BlockTest {
  const names = new Set(linesOf(block, "#"));
  for (const name of names) if (!/^[a-z0-9_.-]+$/.test(name)) throw new RefusedFile(name);
  return (name) => names.has(name);
}
