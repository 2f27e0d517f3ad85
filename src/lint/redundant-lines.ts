import { subtreeName } from "../meaning/line.ts";
import { normalLine } from "../meaning/normal-line.ts";
import { Fate } from "../rules/fate.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { encodeUtf8, decodeUtf8 } from "../bytes/utf8.ts";
import { hostsLine, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { isListedName } from "../syntax/listed-name.ts";
import { withParents } from "../syntax/parents.ts";

/** A redundant line. */
export interface Redundancy {
  readonly fate: typeof Fate.Duplicate | typeof Fate.SameHost | typeof Fate.Covered;
  /** The line, from 1, that makes it redundant. */
  readonly by: number;
  /** Whether the list means the same without the line, for every use. */
  readonly isRemovable: boolean;
}

/** A line that is a rule. */
export interface RuleLine {
  readonly line: number;
  /** The line without meaningless blanks at its ends. */
  readonly text: string;
  /** Its branch of `!#if`. A branch is read together with every branch that is a prefix of it. */
  readonly branch: string;
  /** Whether it blocks in every list that contains it. */
  readonly mayCover: boolean;
}

interface NamedLine extends RuleLine {
  readonly name: string;
}

/**
 * Finds redundant lines. A line is removable only if the list means the same without it for every use: as a subscription,
 * and as a source with any transformations. Hosts lines and plain names block one name in some programs and all names below
 * it in others, so they are removable only if the same text occurs again.
 */
export function redundantLines(
  rules: readonly RuleLine[],
  cancelled: ReadonlySet<string>,
): Map<number, Redundancy> {
  const byText = Map.groupBy(rules, ({ text }) => text);
  const subtrees = byName(rules, (text) => namesIn(text).subtree);
  const names = byName(rules, (text) => namesIn(text).exact);
  const found = new Map<number, Redundancy>();
  for (const rule of rules) {
    const { subtree, exact } = namesIn(rule.text);
    const redundancy =
      copyOf(rule, byText.get(rule.text)!, isNamed(rule.text)) ??
      coverOf(rule, subtree, subtrees, cancelled) ??
      exact
        .map(
          (name) => nameCover(rule, name, subtrees, cancelled) ?? otherName(rule, names.get(name)!),
        )
        .find((one) => one !== undefined);
    if (redundancy !== undefined) found.set(rule.line, redundancy);
  }
  return found;
}

/** Whether Compress reads a line as names. It reads the normal form. */
function isNamed(text: string): boolean {
  const { subtree, exact } = namesIn(text);
  if (subtree.length + exact.length > 0) return true;
  const normal = normalLine(text, false);
  return normal !== undefined && normal !== text && isNamed(normal);
}

/** Compress keeps the first rule for a name. Deduplicate keeps the last of other lines. `--fix` does the same. */
function copyOf(
  rule: RuleLine,
  copies: readonly RuleLine[],
  isName: boolean,
): Redundancy | undefined {
  const kept = isName ? copies[0]! : copies.at(-1)!;
  if (kept.line === rule.line) return undefined;
  const by = isName
    ? copies.find((other) => other.line >= rule.line || isReadWith(rule, other))!
    : copies.findLast((other) => other.line <= rule.line || isReadWith(rule, other))!;
  const isRead = isName ? by.line < rule.line : by.line > rule.line;
  // For several rewrites of a name, the order matters.
  const isRemovable = isRead && !rule.text.includes("dnsrewrite");
  return { fate: Fate.Duplicate, by: isRead ? by.line : kept.line, isRemovable };
}

/** Finds a rule that blocks as much as a rule for a name and all names below it, or more. */
function coverOf(
  rule: RuleLine,
  [name]: readonly string[],
  subtrees: ReadonlyMap<string, readonly NamedLine[]>,
  cancelled: ReadonlySet<string>,
): Redundancy | undefined {
  if (name === undefined) return undefined;
  const covers = coversOf(name, subtrees, cancelled).filter(
    (other) => other.name !== name || (other.line < rule.line && other.text !== rule.text),
  );
  const by = covers.find((other) => isReadWith(rule, other)) ?? covers[0];
  if (by === undefined) return undefined;
  const fate = by.name === name ? Fate.SameHost : Fate.Covered;
  return { fate, by: by.line, isRemovable: isReadWith(rule, by) };
}

/** Finds a rule for a name and all names below it that makes a line for one name redundant. */
function nameCover(
  { line }: RuleLine,
  name: string,
  subtrees: ReadonlyMap<string, readonly NamedLine[]>,
  cancelled: ReadonlySet<string>,
): Redundancy | undefined {
  const by = coversOf(name, subtrees, cancelled).find((other) => other.line !== line);
  if (by === undefined) return undefined;
  const fate = by.name === name ? Fate.SameHost : Fate.Covered;
  return { fate, by: by.line, isRemovable: false };
}

function otherName({ line }: RuleLine, lines: readonly NamedLine[]): Redundancy | undefined {
  const by = lines.find((other) => other.line < line);
  return by && { fate: Fate.SameHost, by: by.line, isRemovable: false };
}

/** The rules that block a name and all names below it, widest first. */
function coversOf(
  name: string,
  subtrees: ReadonlyMap<string, readonly NamedLine[]>,
  cancelled: ReadonlySet<string>,
): NamedLine[] {
  return withParents(name)
    .toReversed()
    .filter((parent) => !cancelled.has(parent))
    .flatMap((parent) => subtrees.get(parent) ?? [])
    .filter(({ mayCover }) => mayCover);
}

/** Whether every reader of a line also reads the other one. */
function isReadWith({ branch }: RuleLine, other: RuleLine): boolean {
  return branch.startsWith(other.branch);
}

/** The first line of each branch for every name. */
function byName(
  rules: readonly RuleLine[],
  namesOf: (text: string) => readonly string[],
): Map<string, NamedLine[]> {
  const found = new Map<string, NamedLine[]>();
  const known = new Set<string>();
  for (const rule of rules)
    for (const name of namesOf(rule.text)) {
      const key = `${rule.branch} ${name}`;
      if (known.has(key)) continue;
      known.add(key);
      const lines = found.get(name);
      if (lines === undefined) found.set(name, [{ ...rule, name }]);
      else lines.push({ ...rule, name });
    }
  return found;
}

/** The name of a rule `||name^`, or the names of a hosts line or of a plain name, perhaps with a note. */
function namesIn(text: string): { subtree: readonly string[]; exact: readonly string[] } {
  const line = text.trim().toLowerCase();
  const subtree = subtreeName(line);
  if (subtree !== undefined) return { subtree: [subtree], exact: [] };
  const bytes = encodeUtf8(line);
  const exact: string[] = [];
  if (readHostsLine(bytes, 0, bytes.length))
    do exact.push(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    while (nextName(bytes));
  else {
    const name = /^(?<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)(?:\s+#.*)?$/.exec(line)?.groups?.["name"];
    if (name !== undefined && (!name.includes("_") || isListedName(name))) exact.push(name);
  }
  return { subtree: [], exact };
}

/** The name of a `$badfilter` rule, whichever rule for that name it cancels. */
export function cancelledName(text: string): string | undefined {
  if (!text.includes("badfilter")) return undefined;
  return subtreeName(parseAdblockRule(text)?.pattern.toLowerCase() ?? "");
}
