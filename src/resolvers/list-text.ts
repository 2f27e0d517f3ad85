import { decodeUtf8 } from "../bytes/utf8.ts";
import type { ListState } from "../explain/list-change.ts";
import { ListRules } from "../explain/list-rules.ts";
import { PlainList } from "../explain/plain-list.ts";
import { SearchedNames, partsOf } from "../explain/plain-names.ts";
import { exactName, subtreeName } from "../meaning/line.ts";

/** A list as a set of lines. For a few names, an index of all names would take ten times as long. */
export class ListText {
  private readonly lines: ReadonlySet<string>;
  private readonly rules: ListRules;

  private constructor(lines: ReadonlySet<string>, rules: ListRules) {
    this.lines = lines;
    this.rules = rules;
  }

  static async read({ bytes, record }: ListState): Promise<ListText> {
    const rules =
      record === undefined
        ? (await PlainList.read(bytes)).rules
        : await ListRules.of(record, new SearchedNames(record, partsOf(bytes, record)));
    return new ListText(new Set(decodeUtf8(bytes).split("\n")), rules);
  }

  has(line: string): boolean {
    return this.lines.has(line);
  }

  isBlocked(name: string): boolean {
    return this.rules.answer(name).verdict === "blocked";
  }

  /** Lines that block a name with its subdomains; without any, lines for single names. More formats can express the former. */
  nameLines(): string[] {
    const all = [...this.lines];
    const subtrees = all.filter((line) => subtreeName(line) !== undefined);
    return subtrees.length > 1 ? subtrees : all.filter((line) => exactName(line) !== undefined);
  }
}
