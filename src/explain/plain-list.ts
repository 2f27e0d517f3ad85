import { decodeUtf8 } from "../bytes/utf8.ts";
import { exactName, readLine, subtreeName } from "../meaning/line.ts";
import { nameScope } from "../meaning/name-scope.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { isCanaryRule } from "../syntax/canary-name.ts";
import { asciiLabels } from "../syntax/idna.ts";
import { ListRules } from "./list-rules.ts";
import type { ListRule, NameRules, PlainNames } from "./plain-names.ts";

/** A list that was read from a file: its rules by text, and their meaning. Rows are line numbers, from 1. */
export class PlainList implements PlainNames {
  /** The distinct rules, in order. */
  readonly texts: Set<string> = new Set();
  /** The rows of the rules `||name^`, by name. */
  private readonly subtrees = new Map<string, number>();
  private readonly exact = new Map<string, ListRule>();
  private readonly special: ListRule[] = [];
  /** Whether it has a canary, which is none of its rules: it would differ between any two lists. */
  hasCanary = false;
  private specialNames: Set<string> | undefined;
  private meaning: ListRules | undefined;

  /** Reads a list in adblock syntax. */
  static async read(bytes: Uint8Array): Promise<PlainList> {
    const list = new PlainList();
    let row = 0;
    for (const line of decodeUtf8(bytes).split("\n")) {
      row++;
      const text = line.trim();
      if (text === "" || text.startsWith("!") || text.startsWith("#")) continue;
      if (isCanaryRule(text)) list.hasCanary = true;
      else list.enter(text, row);
    }
    list.meaning = await ListRules.from(list.special, list);
    return list;
  }

  private enter(text: string, row: number): void {
    const { texts, subtrees } = this;
    const before = texts.size;
    if (texts.add(text).size === before) return;
    // Almost all lines of most lists.
    const subtree = subtreeName(text);
    if (subtree !== undefined) {
      subtrees.set(subtree, row);
      return;
    }
    const name = exactName(text);
    if (name === undefined) this.special.push({ text, row });
    else if (!this.exact.has(name)) this.exact.set(name, { text, row });
  }

  find(name: string): NameRules {
    const row = this.subtrees.get(name);
    return {
      subtree: row === undefined ? undefined : { text: `||${name}^`, row },
      exact: this.exact.get(name),
    };
  }

  get rules(): ListRules {
    return this.meaning!;
  }

  /** Whether `names` has a name. */
  isNamed(name: string): boolean {
    this.specialNames ??= new Set(this.special.flatMap(({ text }) => hostsOf(text).names));
    return this.subtrees.has(name) || this.exact.has(name) || this.specialNames.has(name);
  }

  /** Every name that a rule matches or excludes. */
  *names(): Generator<string> {
    yield* this.subtrees.keys();
    yield* this.exact.keys();
    for (const { text } of this.special) yield* hostsOf(text).names;
  }
}

/** The names that a rule matches or excludes, and whether it can match other names too. */
export function hostsOf(text: string): { names: readonly string[]; isPattern: boolean } {
  const subtree = subtreeName(text);
  if (subtree !== undefined) return { names: [subtree], isPattern: false };
  const line = readLine(text);
  if (line.kind === "names") return { names: line.names, isPattern: false };
  const rule = line.kind === "rule" ? parseAdblockRule(text) : undefined;
  if (rule === undefined) return { names: [], isPattern: false };
  const scope = nameScope(asciiLabels(rule.pattern));
  const denied = rule.modifiers.find(({ name }) => name === "denyallow")?.value?.split("|") ?? [];
  const names = [...(scope === undefined ? [] : [scope.name]), ...denied];
  return {
    names: names.map((name) => asciiLabels(name).toLowerCase()),
    isPattern: scope === undefined,
  };
}
