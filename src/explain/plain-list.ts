import { decodeUtf8 } from "../bytes/utf8.ts";
import { nameScope } from "../meaning/name-scope.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { asciiLabels } from "../syntax/idna.ts";
import { nameIn, namesIn } from "./line-names.ts";
import { type ListRule, ListRules } from "./list-rules.ts";
import type { NameRules, PlainNames } from "./plain-names.ts";

/** A list as it stands in a file: its rules by text, and what they mean. Rows are numbers of lines, from 1. */
export class PlainList implements PlainNames {
  /** Rules, in order, each once. */
  readonly texts: Set<string> = new Set();
  private readonly subtrees = new Map<string, ListRule>();
  private readonly exact = new Map<string, ListRule>();
  private readonly odd: ListRule[] = [];
  private meaning: ListRules | undefined;

  /** Reads a list of adblock syntax. */
  static async read(bytes: Uint8Array): Promise<PlainList> {
    const list = new PlainList();
    let row = 0;
    for (const line of decodeUtf8(bytes).split("\n")) {
      row++;
      const text = line.trim();
      if (text !== "" && !text.startsWith("!") && !text.startsWith("#")) list.enter(text, row);
    }
    list.meaning = await ListRules.from(list.odd, list);
    return list;
  }

  private enter(text: string, row: number): void {
    if (this.texts.has(text)) return;
    this.texts.add(text);
    const found = nameIn(text);
    const rule = { text, row };
    // A name in upper case or in another script is looked for by its other form.
    if (found === undefined || /[A-Z]|[^\u0000-\u007f]/.test(found.name)) this.odd.push(rule);
    else {
      const names = found.isSubtree ? this.subtrees : this.exact;
      if (!names.has(found.name)) names.set(found.name, rule);
    }
  }

  find(name: string): NameRules {
    return { subtree: this.subtrees.get(name), exact: this.exact.get(name) };
  }

  get rules(): ListRules {
    return this.meaning!;
  }

  /** Every name that a rule is for, or leaves out. */
  *names(): Generator<string> {
    yield* this.subtrees.keys();
    yield* this.exact.keys();
    for (const { text } of this.odd) yield* hostsOf(text).names;
  }
}

/** The names that a rule is for or leaves out, and whether it is for more than those and what is below them. */
export function hostsOf(text: string): { names: readonly string[]; isPattern: boolean } {
  const plain = nameIn(text);
  if (plain !== undefined)
    return { names: [asciiLabels(plain.name).toLowerCase()], isPattern: false };
  const several = namesIn(text);
  if (several !== undefined) return { names: several, isPattern: false };
  const rule = parseAdblockRule(text);
  if (rule === undefined) return { names: [], isPattern: false };
  const scope = nameScope(rule.pattern);
  const denied = rule.modifiers.find(({ name }) => name === "denyallow")?.value?.split("|") ?? [];
  const names = [...(scope === undefined ? [] : [scope.name]), ...denied];
  return {
    names: names.map((name) => asciiLabels(name).toLowerCase()),
    isPattern: scope === undefined,
  };
}
