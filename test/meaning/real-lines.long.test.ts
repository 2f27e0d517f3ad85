import assert from "node:assert/strict";
import { test } from "node:test";
import { ListRules } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/why.ts";
import { missingEngine } from "../support/reference/adguard-engine.ts";
import { type Asked, judges } from "../support/reference/judges.ts";
import { ListMatcher, type Meaning } from "../support/reference/list-matcher.ts";
import { missingCorpus } from "../support/corpus.ts";
import { memoryHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";
import { compileRecorded } from "../support/recorded.ts";
import { isSameAnswer } from "../support/agreement/engine-check.ts";
import { isQuirk, quirkCounts } from "../support/agreement/engine-quirks.ts";
import { coarseShape, fineShape, namesOf, realLines } from "../support/agreement/real-lines.ts";

interface Compiled {
  readonly line: string;
  readonly names: readonly string[];
  readonly published: string;
  readonly matcher: ListMatcher;
  /** What `why` says of each name, and whether it names rules for some clients or questions besides. */
  readonly says: readonly { readonly verdict: Meaning; readonly isPartial: boolean }[];
}

async function compiledAlone(line: string): Promise<Compiled> {
  const host = memoryHost({ files: { "a.txt": `${line}\n` } });
  const config = { name: "N", sources: [{ source: "a.txt", name: "A", type: "adblock" as const }] };
  const { result, record } = await compileRecorded(config, { host });
  const rules = await ListRules.of(record, new MappedNames(result.bytes, record));
  const names = namesOf(line);
  const says = names.map((name) => {
    const { verdict, partial } = rules.answer(name);
    return { verdict, isPartial: partial.length > 0 };
  });
  const published = new TextDecoder().decode(result.bytes);
  result.close();
  return { line, names, published, says, matcher: new ListMatcher([line]) };
}

test(
  "AdGuard's engines read every line of real lists as why does, as written and as published",
  { timeout: 900_000, skip: missingEngine || missingCorpus },
  async (context) => {
    const shapeOf = isNightly ? fineShape : coarseShape;
    const { total, special, lines } = realLines(["typical", "power"], shapeOf);
    const all: Compiled[] = [];
    for (const line of lines) all.push(await compiledAlone(line));
    const faults = new Map<string, string[]>();
    let asked = 0;
    for (const judge of await judges())
      for (const form of ["as written", "as published"] as const) {
        const documents = all.map(({ line, published, names }): Asked => ({
          list: form === "as written" ? `${line}\n` : published,
          questions: names.map((name) => ({ name, type: "A", client: "" })),
        }));
        const answers = judge.answers(documents);
        for (const [index, { line, names, says, matcher }] of all.entries())
          for (const [at, name] of names.entries()) {
            asked++;
            const { verdict, isPartial } = says[at]!;
            const theirs = answers[index]![at]!;
            // Such rules depend on the question.
            const ours =
              isPartial && judge.knowsQuestions ? matcher.answer(name, "A", "") : verdict;
            const matching = matcher.matching(name);
            if (ours === theirs || isSameAnswer(ours, theirs, matching)) continue;
            if (isQuirk(judge, form, line, name)) continue;
            const kind = `${judge.engine} says ${theirs}, why ${ours}, ${form}`;
            const known = faults.get(kind) ?? [];
            faults.set(kind, [...known, `${name} by ${line}`]);
          }
      }
    context.diagnostic(
      `${total} lines, ${special} of them special, ${lines.length} shapes, ${asked} questions`,
    );
    for (const line of quirkCounts()) context.diagnostic(line);
    const report = [...faults].map(
      ([kind, texts]) => `${kind} (${texts.length})\n  ${texts.slice(0, 30).join("\n  ")}`,
    );
    assert.equal(faults.size, 0, `\n${report.join("\n")}`);
  },
);
