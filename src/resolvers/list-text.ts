import { decodeUtf8 } from "../bytes/utf8.ts";
import type { ListState } from "../explain/list-change.ts";
import { ListRules } from "../explain/list-rules.ts";
import { PlainList } from "../explain/plain-list.ts";
import type { ListRule, NameRules, PlainNames } from "../explain/plain-names.ts";

/** Addresses before the name in a hosts line. */
const SINKHOLES = ["", "0.0.0.0 ", "127.0.0.1 ", ":: "];

/** A list as a set of lines. For a few names, an index of all names would take ten times as long. */
export class ListText implements PlainNames {
  private readonly lines: ReadonlySet<string>;
  private rules: ListRules | undefined;

  private constructor(lines: ReadonlySet<string>) {
    this.lines = lines;
  }

  static async read({ bytes, record }: ListState): Promise<ListText> {
    const list = new ListText(new Set(decodeUtf8(bytes).split("\n")));
    list.rules =
      record === undefined ? (await PlainList.read(bytes)).rules : await ListRules.of(record, list);
    return list;
  }

  has(line: string): boolean {
    return this.lines.has(line);
  }

  isBlocked(name: string): boolean {
    return this.rules!.answer(name).verdict === "blocked";
  }

  /** Lines that block a name with its subdomains; without any, lines for single names. More formats can express the former. */
  nameLines(): string[] {
    const all = [...this.lines];
    const subtrees = all.filter((line) => line.startsWith("||") && line.endsWith("^"));
    return subtrees.length > 1 ? subtrees : all.filter((line) => /^[\w:]/.test(line));
  }

  find(name: string): NameRules {
    return {
      subtree: this.ruleOf([`||${name}^`]),
      exact: this.ruleOf(SINKHOLES.map((address) => address + name)),
    };
  }

  private ruleOf(texts: readonly string[]): ListRule | undefined {
    const text = texts.find((one) => this.lines.has(one));
    return text === undefined ? undefined : { text, row: 0 };
  }
}
