import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "tldts";
import { compile, nodeHost, rowsOf } from "../support/internals.ts";
import { checkAccount } from "../support/account.ts";
import { corpusConfig, corpusFolder, missingCorpus, referenceResult } from "../support/corpus.ts";

/**
 * Twenty real lists, 2.27 million lines, against what the reference made of them in 343 s of CPU. Every line that differs
 * must be claimed by a named deviation; the predicates are written from its description, not from our code.
 */
const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+[a-z0-9-]+$/;

/** Lines that only we have. `raw` is the line of the input that gave it, `inputHas` looks for a name in all of the input. */
const GAINED: Readonly<
  Record<string, (line: string, raw: string, inputHas: (name: string) => boolean) => boolean>
> = {
  "O-08 underscore": (line) =>
    line.includes("_") &&
    NAME.test(line.replace(/^@@/, "").replace(/^\|\|/, "").replace(/\^.*$/, "")),
  "O-08 short domain": (line) => /^(?:\|\|)?[a-z0-9]\.[a-z0-9]{2}\^?$/.test(line),
  "O-34 upper case": (_, raw) => /[A-Z]/.test(raw),
  "O-01 parent that is no rule": (line, _, inputHas) =>
    parentsOf(line).some((name) => isSuffix(name) && inputHas(name)),
  "final dot": (_, raw) => /\.\s*$/.test(raw),
  "O-38 note behind a domain": (_, raw) => /^[a-z0-9.-]+\s+#/i.test(raw),
  "O-58 final dot": (line, raw) =>
    /^\|\|[a-z0-9.-]+\.\^$/.test(raw) && line === raw.replace(".^", "^"),
};

/** Lines that only the reference has. */
const LOST: Readonly<Record<string, (line: string) => boolean>> = {
  "O-34 upper case": (line) => /[A-Z]/.test(line),
  "O-58 final dot": (line) => /^\|\|[a-z0-9.-]+\.\^$/.test(line),
  "O-36 local name": (line) =>
    /^\|\|(?:localhost(?:\.localdomain)?|local|broadcasthost|ip6-[a-z]+)\^$/.test(line),
  "O-07 whole suffix": (line) => /^(?:\|\||\*\.|\.)?[a-z]+(?:\.[a-z]{2})?$/.test(line),
};

function parentsOf(line: string): string[] {
  const labels = line.replace(/^\|\|/, "").replace(/\^$/, "").split(".");
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join("."));
}

function isSuffix(name: string): boolean {
  return parse(name).publicSuffix === name;
}

test(
  "typical lists: a documented deviation explains every line that differs from the reference",
  { skip: missingCorpus, timeout: 300_000 },
  async (context) => {
    const folder = corpusFolder("typical");
    const result = await compile(corpusConfig(), { host: { ...nodeHost(), cwd: folder } });
    checkAccount(result);
    const ours = new TextDecoder().decode(result.bytes).split("\n").slice(7);
    const theirs = referenceResult().split("\n");
    const oursSet = new Set(ours);
    const theirsSet = new Set(theirs);
    const inputs = new Map(
      corpusConfig().sources.map(({ source }) => [
        source,
        readFileSync(join(folder, source), "utf8"),
      ]),
    );
    const raws = new Map<string, string>();
    for (const { isKept, text, file, line } of rowsOf(result.rules))
      if (isKept && !theirsSet.has(text))
        raws.set(text, inputs.get(file)!.split(/\r?\n/)[line - 1]!);
    const inputHas = (name: string): boolean => {
      const asLine = new RegExp(
        `^(?:[\\d.:]+\\s+|\\|\\|)?${name.replaceAll(".", "\\.")}(?:\\^|\\s*$|\\s+#)`,
        "m",
      );
      return [...inputs.values()].some((text) => asLine.test(text));
    };

    const claims = new Map<string, number>();
    const unexplained: string[] = [];
    const claim = (line: string, found: string | undefined): void => {
      if (found === undefined) unexplained.push(line);
      else claims.set(found, (claims.get(found) ?? 0) + 1);
    };
    for (const line of ours)
      if (!theirsSet.has(line))
        claim(
          `+ ${line}`,
          Object.keys(GAINED).find((name) => GAINED[name]!(line, raws.get(line) ?? "", inputHas)),
        );
    for (const line of theirs)
      if (!oursSet.has(line))
        claim(
          `- ${line}`,
          Object.keys(LOST).find((name) => LOST[name]!(line)),
        );

    context.diagnostic(
      `${ours.length} lines against ${theirs.length}; differences: ${JSON.stringify(Object.fromEntries(claims))}`,
    );
    assert.deepEqual(unexplained, []);
    assert.deepEqual(
      commonOf(ours, theirsSet),
      commonOf(theirs, oursSet),
      "what both have stands in the same order",
    );
    assert.ok(ours.length > 1_090_000);
  },
);

function commonOf(lines: readonly string[], other: ReadonlySet<string>): string[] {
  return lines.filter((line) => other.has(line));
}
