import { ListRules, SearchedNames, partsOf } from "../../../src/explain/list-rules.ts";
import { MappedNames } from "../../../src/explain/why.ts";
import { ListMatcher } from "../reference/list-matcher.ts";
import { readExactly } from "../reference/rule-syntax.ts";
import { memoryHost } from "../internals.ts";
import { compileRecorded } from "../recorded.ts";
import type { RandomList } from "./random-list.ts";
import { spelling } from "./trials.ts";

/** How many names are also looked up in the list's bytes, which takes longer. */
const SEARCHED = 12;

/** What `why` says of each name, and by which rule. */
export async function checkWhy({ lines, names }: RandomList): Promise<string[]> {
  const host = memoryHost({ files: { "a.txt": `${lines.join("\n")}\n` } });
  const sources = [{ source: "a.txt", name: "A", type: "adblock" as const }];
  const { result, record } = await compileRecorded({ name: "N", sources }, { host, compat: true });
  const mapped = await ListRules.of(record, new MappedNames(result.bytes, record));
  const parts = partsOf(result.bytes, record);
  const searched = await ListRules.of(record, new SearchedNames(record, parts));
  result.close();
  const matcher = new ListMatcher(lines, readExactly);
  const faults: string[] = [];
  for (const [index, name] of names.entries()) {
    const { meaning, by } = matcher.decide(name);
    const answer = mapped.answer(name);
    const texts = by.map(({ text }) => text);
    const rules = texts.join(" or ");
    const how = spelling([...texts, answer.by?.text ?? ""]);
    if (answer.verdict !== meaning)
      faults.push(
        `why says ${answer.verdict} where the list means ${meaning}${how}: ${name} by ${answer.by?.text}, not ${rules}`,
      );
    else if (answer.by !== undefined && !decides(answer.by.text.trim(), matcher, name))
      faults.push(`why names another rule${how}: ${name} by ${answer.by.text}, not ${rules}`);
    else if (index < SEARCHED && searched.answer(name).verdict !== meaning)
      faults.push(`why by search says something else: ${name}`);
  }
  return faults;
}

/** Whether a rule decides, or is a hosts line beside those that decide: it is as good a reason. */
function decides(text: string, matcher: ListMatcher, name: string): boolean {
  const { meaning, by } = matcher.decide(name);
  const isPlainBlock = meaning === "blocked" && !by.some(({ isImportant }) => isImportant);
  const beside = isPlainBlock ? matcher.matching(name).filter(({ isHosts }) => isHosts) : [];
  return [...by, ...beside].some((rule) => rule.text === text);
}
