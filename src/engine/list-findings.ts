import { DOT } from "../bytes/text.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { MOST_NAMED, countText, printable, someOf } from "../diagnostics/text.ts";
import type { RowFinder } from "../kernel/rows.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import { isForHost } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { type ChunkPool, placeOf } from "../rules/rule-table.ts";
import { suffixOf } from "../syntax/adblock-rule.ts";
import { withoutEnd } from "../syntax/name-pattern.ts";
import { Suffix, isListedSuffix } from "../syntax/public-suffix.ts";
import { isTooWide } from "../syntax/trust.ts";
import type { BlockedName, Protection } from "../transformations/protect.ts";
import { type ProtectedSet, countKinds } from "./protected-names.ts";
import type { CompileReport } from "./report.ts";

type At = Diagnostic["at"];

/** A protected name that the list blocks because a fully trusted source does. */
export interface BlockedProtected extends Pick<BlockedName, "name" | "isForName"> {
  /** Whether a device that cannot reach it reports a fault. */
  readonly isLifeline: boolean;
  readonly text: string;
  readonly at: At;
}

/** Facts about the rules of a list, for the guards. */
export interface ListFindings {
  readonly blocked: readonly BlockedProtected[];
  readonly wide: readonly (Pick<WideRule, "text" | "suffix"> & { readonly at: At })[];
}

export const NO_FINDINGS: ListFindings = { blocked: [], wide: [] };

/** Findings with the positions of the rules. */
export function listFindings(
  protection: Protection,
  wide: readonly WideRule[],
  lifelines: ReadonlySet<string>,
  pool: ChunkPool,
): ListFindings {
  return {
    blocked: protection.blocked.map(({ name, isForName, rule }) => ({
      name,
      isForName,
      isLifeline: lifelines.has(name),
      text: rule.text,
      at: findingLocation(rule, pool),
    })),
    wide: wide.map((rule) => ({
      text: rule.text,
      suffix: rule.suffix,
      at: findingLocation(rule, pool),
    })),
  };
}

export function findingLocation(
  { row, text }: { readonly row: number; readonly text?: string },
  pool: ChunkPool,
): At {
  const { file, line, text: own } = placeOf(row, pool);
  return line === 0 ? undefined : { file, line, frame: printable(text ?? own, 120) };
}

/** One warning for all entries of `guards.may_block` that have no effect. */
export function unknownEntries({ unknown }: ProtectedSet): Diagnostic[] {
  if (unknown.length === 0) return [];
  const message =
    unknown.length === 1
      ? `${printable(unknown[0]!)} is not a protected name`
      : `${countText(unknown.length, "entry", "entries")} of guards.may_block are not protected names: ${someOf(unknown)}`;
  return [warningOf("may-block-unknown", message, { subject: "may_block", all: unknown })];
}

/** How to permit that names are blocked. */
export function mayBlockHint(when: string, names: readonly string[]): string {
  return names.length > MOST_NAMED
    ? `${when}, add the names that --verbose shows to guards.may_block`
    : `${when}: guards: { may_block: [${someOf(names)}] }`;
}

/** Warnings about sources below full trust that block protected names, or names that people need. */
export function protectionWarnings(
  protection: Protection,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return [
    ...protectedWarnings(protection, labels),
    ...householdWarnings(protection, labels, pool),
    ...acceptedNote(protection),
  ];
}

function protectedWarnings({ uses, blocked }: Protection, labels: readonly string[]): Diagnostic[] {
  // What a fully trusted source blocks does not stay reachable, and has its own message.
  const own = new Set(blocked.map(({ name }) => name));
  return [...uses].flatMap(([source, { dropped, excepted }]) => {
    // Sorted: the order in which names are found depends on the seed of the hashes.
    const names = [...new Set([...dropped, ...excepted])]
      .filter((name) => !own.has(name))
      .toSorted();
    if (names.length === 0) return [];
    const subject = printable(labels[source] ?? "");
    const message = `${subject} blocks names that devices need; they stay reachable: ${someOf(names)}`;
    const hint = mayBlockHint("To block them anyway", names);
    return [warningOf("protected-names", message, { hint, subject, all: names })];
  });
}

/** One warning per source below full trust that would block names that people need. */
function householdWarnings(
  { uses }: Protection,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return [...uses].flatMap(([source, { household }]) => {
    if (household.size === 0) return [];
    const names = [...household.keys()];
    const shown = Array.from(household, ([name, rule]) => {
      const line = findingLocation(rule, pool)?.line;
      return `${name} by ${printable(rule.text, 60)}${line === undefined ? "" : ` (line ${line})`}`;
    });
    const subject = printable(labels[source] ?? "");
    const message = `${subject} would block ${countText(names.length, "name")} that people need; ${names.length === 1 ? "it stays" : "they stay"} reachable: ${someOf(shown)}`;
    const at = findingLocation([...household.values()][0]!, pool);
    const hint = `${mayBlockHint("If that is intended", names)}; otherwise tell the maintainer of the list`;
    return [
      warningOf("household-names", message, { ...(at && { at }), hint, subject, all: names }),
    ];
  });
}

/** One note about names of the kinds that some lists block on purpose. */
function acceptedNote({ uses }: Protection): Diagnostic[] {
  const names = [...new Set([...uses.values()].flatMap(({ accepted }) => [...accepted]))];
  if (names.length === 0) return [];
  const counts = Object.entries(countKinds(names)).map(([kind, count]) => `${kind} ${count}`);
  const message = `Sources block ${countText(names.length, "name")} that many people use (${someOf(counts)}): ${someOf(names)}`;
  const subject = "sources";
  return [{ code: "household-blocked", severity: "note", message, subject, all: names }];
}

/** Protected names in the report: those that the list blocks, and those that sources tried to block. */
export function protectionReport(
  protection: Protection | undefined,
): Pick<CompileReport, "blocked" | "protected"> {
  if (protection === undefined) return {};
  const blocked = protection.blocked.map(({ name }) => name);
  const kept = new Set(
    [...protection.uses.values()].flatMap(({ dropped, excepted, household }) => [
      ...dropped,
      ...excepted,
      ...household.keys(),
    ]),
  );
  return {
    ...(blocked.length > 0 && { blocked }),
    ...(kept.size > 0 && { protected: [...kept] }),
  };
}

/** A rule for a whole public suffix, or for nearly everything. */
interface WideRule {
  readonly text: string;
  readonly row: number;
  /** Undefined for a rule that blocks nearly everything. */
  readonly suffix: string | undefined;
}

/** Finds the rules of the finished list that block far more than a list should. */
export class WideRules {
  readonly found: WideRule[] = [];
  private readonly finder: RowFinder;

  constructor(finder: RowFinder) {
    this.finder = finder;
  }

  take(chunk: Chunk): void {
    for (const row of this.finder.special(chunk)) {
      if (chunk.kind[row]! < Kind.Hosts || (chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const wide = widthOf(chunk, row);
      if (wide !== undefined)
        this.found.push({ text: textOf(chunk, row), row: chunk.idOf(row), ...wide });
    }
  }
}

/** Undefined for nearly all rules. */
function widthOf(chunk: Chunk, row: number): { suffix: string | undefined } | undefined {
  // Building the set of suffixes is the slowest step here, and few lists need it.
  if (chunk.kind[row] !== Kind.Rule)
    return mayBeSuffixRow(chunk, row) ? suffixIn(hostOf(chunk, row)) : undefined;
  const isPattern = !isForHost(chunk, row);
  // Check the bytes of single-name rules first: some lists have a hundred thousand of them.
  if (!isPattern && !mayBeSuffixRow(chunk, row)) return undefined;
  const text = textOf(chunk, row).trim();
  if (isPattern && !isTooWide(text)) return undefined;
  const rule = readRule(text);
  // Exceptions and limited rules are intended. Rules that a resolver cannot read have no effect.
  if (rule === undefined || rule.isAllow || rule.isPartial || rule.denied.length > 0)
    return undefined;
  const name = nameScope(rule.pattern)?.name;
  if (name !== undefined) return suffixIn(name);
  return suffixIn(withoutEnd(rule.pattern, "|^*.").replace(/^[|*.]+/, "")) ?? { suffix: undefined };
}

function mayBeSuffixRow(chunk: Chunk, row: number): boolean {
  const endsInDot = chunk.bytesOf(row)[chunk.hostEnd[row]! - 1] === DOT;
  return endsInDot || suffixOf(chunk, row) === Suffix.Icann;
}

function suffixIn(name: string): { suffix: string } | undefined {
  const suffix = withoutEnd(name.toLowerCase(), ".");
  return isListedSuffix(suffix) ? { suffix } : undefined;
}
