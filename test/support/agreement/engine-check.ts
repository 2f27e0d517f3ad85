import type { Judge, Question } from "../reference/judges.ts";
import { ListMatcher, type Meaning, type Rule } from "../reference/list-matcher.ts";
import { unexplained } from "./engine-quirks.ts";
import type { RandomList } from "./random-list.ts";

/** The usual question, and some that only some rules are for. */
const ASKED = [
  { type: "A", client: "" },
  { type: "TXT", client: "" },
  { type: "AAAA", client: "10.0.0.1" },
  { type: "A", client: "device_pc" },
];

interface Difference extends Question {
  readonly ours: Meaning;
  readonly theirs: Meaning;
  readonly by: string;
}

/** What engines that others wrote make of a list, beside what our slow matcher makes of it. */
export function checkEngines({ lines, names }: RandomList, judges: readonly Judge[]): string[] {
  return judges.flatMap((judge) => {
    const kinds = judge.knowsQuestions ? ASKED : ASKED.slice(0, 1);
    const questions = names.flatMap((name) => kinds.map((kind) => ({ ...kind, name })));
    const left = unexplained<Difference>(judge, lines, (some, differing = []) =>
      differences(judge, some, differing.length > 0 ? differing : questions),
    );
    return left.map(
      ({ name, type, client, ours, theirs, by }) =>
        `${judge.engine} says ${theirs}, the list means ${ours}: ${name} ${type} ${client} by ${by}`,
    );
  });
}

function differences(
  judge: Judge,
  lines: readonly string[],
  questions: readonly Question[],
): Difference[] {
  const matcher = new ListMatcher(lines);
  const [answers = []] = judge.answers([{ list: `${lines.join("\n")}\n`, questions }]);
  return questions.flatMap(({ name, type, client }, index) => {
    const theirs = answers[index]!;
    const ours = judge.knowsQuestions ? matcher.answer(name, type, client) : matcher.meaning(name);
    const matching = matcher.matching(name);
    if (ours === theirs || isSameAnswer(ours, theirs, matching)) return [];
    const by = matching.map(({ text }) => text).join(" or ");
    return [{ name, type, client, ours, theirs, by }];
  });
}

/** Engines tell less apart: some call an answer without an address a block, and all a hosts line. */
export function isSameAnswer(ours: Meaning, theirs: Meaning, matching: readonly Rule[]): boolean {
  if (ours !== "rewritten" || theirs !== "blocked") return false;
  return matching.some(
    ({ isAllow, isHosts, rewrite }) =>
      rewrite !== undefined && !isAllow && (isHosts || !rewrite.includes(" ")),
  );
}
