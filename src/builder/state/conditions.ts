import { CODES, type LastingSubject, codeEntry } from "../../diagnostics/codes.ts";
import type { Diagnostic } from "../../diagnostics/render.ts";
import { DAY_MS, countText, printable } from "../../diagnostics/text.ts";
import { isDate, isNumber, isText, arrayOf, objectOf, oneOf } from "../../host/files.ts";
import type { StateFile } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";
import { stateOf } from "../../record/record-file.ts";
import { isDegraded } from "../../sources/acquire.ts";
import { readSources, sourcesPath } from "../../sources/ledger.ts";

/** The part of a run that finds a condition, and that alone can find that it has ended. */
export type Finder = "build" | "hooks" | "state-hooks";

/** A problem that lasts. */
export interface Condition extends Diagnostic {
  readonly finder: Finder;
  /** When it was first found. */
  readonly since: string;
  /** If `since` is when the clock was found to be behind: the date before that, which counts again once it is past. */
  readonly later?: string | undefined;
  readonly reminders: number;
}

interface StoredConditions {
  readonly version: 1;
  readonly conditions: readonly Condition[];
}

/** What a part of a run found. */
export interface Found {
  readonly finder: Finder;
  readonly diagnostics: readonly Diagnostic[];
  /** Whether it ended early, so that what it did not find may last. */
  readonly isPartial?: boolean;
  /** The labels of all sources and files of names, if a build knows them. */
  readonly named?: ReadonlySet<string> | undefined;
}

/** The difference between what a run found and what is stored. */
export interface Settled {
  readonly conditions: readonly Condition[];
  /** What ended, then what was found; each says whether it is news. */
  readonly diagnostics: readonly Diagnostic[];
  /** What began and ended, for the log: conditions whose end is reported, and no errors, which the log has as refusals. */
  readonly changes: readonly ConditionChange[];
}

export interface ConditionChange {
  readonly event: "began" | "ended";
  readonly what: string;
}

/** Of a condition with more names, new ones are not noticed. */
const MOST_NAMES = 1000;
const LONGEST = 4000;
/** What is reported when a condition ends, with `{}` for its subject. */
const ENDS: Readonly<Record<LastingSubject, string>> = {
  source: "{} is read again",
  servers: "Servers of sources answer again",
  hook: "The hook {} works again",
  cache: "The cache folder {} is writable again",
};
/** What only a run that asks servers can find to have ended. */
const ASKED: ReadonlySet<LastingSubject | undefined> = new Set(["source", "servers"]);
/** After so many days, the user is reminded of a condition. */
const REMINDERS = [7, 30];

/** Compares what a run found with the stored conditions. Notes are reported once, too. */
export function settle(
  stored: readonly Condition[],
  { finder, diagnostics, isPartial = false, named }: Found,
  now: Date,
): Settled {
  const known = new Map(stored.map((one) => [keyOf(one), one]));
  const conditions = new Map<string, Condition>();
  // If no server answers, single sources are not news.
  const isDown = diagnostics.some(({ code }) => code === "no-answer");
  const isNamed = (one: Diagnostic): boolean =>
    !isDown || lastsFor(one) !== "source" || known.has(keyOf(one));
  const found = diagnostics.filter(isNamed).map((diagnostic) => {
    const key = keyOf(diagnostic);
    const condition = nextOf(conditions.get(key) ?? known.get(key), diagnostic, finder, now);
    const before = known.get(key);
    conditions.set(key, condition);
    const isNews =
      before === undefined || diagnostic.severity === "error" || hasNew(diagnostic, before);
    if (isNews || condition.reminders === before.reminders) return { ...diagnostic, news: isNews };
    const since = before.since.slice(0, "2026-11-01".length);
    return { ...diagnostic, message: `Since ${since}: ${diagnostic.message}`, news: true };
  });
  const gone = stored.filter((one) => !conditions.has(keyOf(one)));
  // A run that did not ask cannot find that servers answer again.
  const isOffline = diagnostics.some(({ code }) => code === "offline-copies");
  const ends = (one: Condition): boolean =>
    one.finder === finder && !isPartial && !(isOffline && ASKED.has(lastsFor(one)));
  const left = gone.filter((one) => !ends(one));
  const all = [...left, ...conditions.values()];
  // The end of the conditions of a source that the user removed is not reported.
  const isRemoved = (one: Condition): boolean =>
    lastsFor(one) === "source" && named?.has(subjectOf(one)) === false;
  const over = gone
    .filter((one) => ends(one) && !isRemoved(one))
    .flatMap((one) => overOf(one, all, now));
  // The user removed it and needs no message, but the log has when it began.
  const removed = new Set(
    gone.filter((one) => ends(one) && isRemoved(one)).map((one) => subjectOf(one)),
  );
  const distinct = new Map(over.map((one) => [one.message, one]));
  const began = found.filter((one) => !known.has(keyOf(one)) && lastsFor(one) !== undefined);
  const changes = [
    ...Array.from(distinct.values())
      .filter((one) => lastsFor(one) !== undefined)
      .map(({ message }) => ({ event: "ended" as const, what: message })),
    ...Array.from(removed, (subject) => ({
      event: "ended" as const,
      what: `${subject} is no longer in the configuration`,
    })),
    ...began.map(({ message }) => ({ event: "began" as const, what: message })),
  ];
  return { conditions: all, diagnostics: [...distinct.values(), ...found], changes };
}

/** Whether it names something that was not named before. */
function hasNew({ all = [] }: Diagnostic, before: Condition): boolean {
  const known = new Set(before.all);
  return all.length <= MOST_NAMES && all.some((name) => !known.has(name));
}

function nextOf(
  before: Condition | undefined,
  diagnostic: Diagnostic,
  finder: Finder,
  now: Date,
): Condition {
  const at = now.toISOString();
  const subject = subjectOf(diagnostic);
  if (before === undefined) return { ...diagnostic, subject, finder, since: at, reminders: 0 };
  const { reminders } = before;
  // A clock that was ahead must not delay reminders for years, and one that is behind must not bring them early.
  const dates = [before.since, before.later ?? before.since].toSorted();
  const since = dates.findLast((date) => date <= at) ?? at;
  const later = dates.find((date) => date > at);
  const due =
    diagnostic.severity === "warning"
      ? REMINDERS.filter((day) => now.getTime() - Date.parse(since) >= day * DAY_MS).length
      : 0;
  const all = [...new Set([...(before.all ?? []), ...(diagnostic.all ?? [])])];
  return {
    ...diagnostic,
    subject,
    finder,
    since,
    later,
    reminders: Math.max(due, reminders),
    // A name that goes and comes back is not new.
    ...(all.length > 0 && all.length <= MOST_NAMES && { all }),
  };
}

/** The end of a condition. Nothing, while its subject is in another condition that ends in the same way. */
function overOf(one: Condition, all: readonly Condition[], now: Date): Diagnostic[] {
  const { code, since } = one;
  const over = overText(one);
  const subject = subjectOf(one);
  const isSame = (other: Condition): boolean =>
    subjectOf(other) === subject && overText(other) === over;
  if (over === undefined || all.some(isSame)) return [];
  const message = `${over.replace("{}", () => subject)}, after ${spanText(now.getTime() - Date.parse(since))}`;
  return [{ code, severity: "note", message, subject, news: true, isOver: true }];
}

function overText(one: Condition): string | undefined {
  const subject = lastsFor(one);
  if (subject !== undefined) return ENDS[subject];
  return one.severity === "error" ? "{} is published again" : undefined;
}

function lastsFor({ code }: Pick<Diagnostic, "code">): LastingSubject | undefined {
  return codeEntry(code).lasts;
}

function spanText(ms: number): string {
  if (ms < 60_000) return countText(Math.max(1, Math.floor(ms / 1000)), "second");
  if (ms < 3_600_000) return countText(Math.round(ms / 60_000), "minute");
  const hours = Math.round(ms / 3_600_000);
  return hours < 48 ? countText(hours, "hour") : countText(Math.round(hours / 24), "day");
}

function keyOf(one: Diagnostic): string {
  return `${one.code}\n${subjectOf(one)}`;
}

function subjectOf({ subject, message }: Diagnostic): string {
  return subject ?? message;
}

/** A condition of one of several lists. */
export interface ListedCondition extends Condition {
  readonly list: string;
}

/** The conditions of lists that the user can end, each once. What stops a list is elsewhere: its errors, and its hold. */
export function lastingConditions(all: readonly ListedCondition[]): ListedCondition[] {
  const lasting = all.filter(
    ({ code, severity }) => severity === "warning" && code !== "list-held",
  );
  const first = new Map(lasting.toReversed().map((one) => [keyOf(one), one]));
  return [...first.values()].toReversed();
}

/** The conditions of a list, stored beside it. A list on standard output has none. */
export class Conditions {
  private readonly file: StateFile<StoredConditions> | undefined;
  private readonly host: Host;
  private readonly list: string | undefined;
  private before: Promise<readonly Condition[] | undefined> | undefined;

  constructor(list: string | undefined, host: Host) {
    this.host = host;
    this.list = list;
    this.file = list === undefined ? undefined : stateOf(list, "conditions.json", isStored, host);
  }

  /** Undefined if nothing is stored. Call it before a publish, which changes what is known without a state. */
  async read(): Promise<readonly Condition[] | undefined> {
    const stored = await this.file?.look();
    if (stored === undefined) return undefined;
    if (typeof stored === "string") return await (this.before ??= this.published());
    return stored.conditions.filter(({ code }) => Object.hasOwn(CODES, code)).map(safeToPrint);
  }

  /** Where the state does not survive, what is published about the sources is known already. Undefined if nothing is. */
  private async published(): Promise<readonly Condition[] | undefined> {
    const { list, host } = this;
    const sources = list === undefined ? undefined : await readSources(sourcesPath(list), host);
    return sources?.flatMap(({ name, state, since }): Condition[] => {
      if (!isDegraded(state)) return [];
      const code = `source-${state}` as const;
      const at = new Date(since).toISOString();
      const days = (host.now().getTime() - Date.parse(at)) / DAY_MS;
      const reminders = REMINDERS.filter((day) => days >= day).length;
      const own = { code, severity: "warning", message: name, subject: name } as const;
      return [safeToPrint({ ...own, finder: "build", since: at, reminders })];
    });
  }

  /** What the last build found, for a build that has the same result. */
  async last(): Promise<readonly Diagnostic[]> {
    const stored = (await this.read())?.filter((one) => one.finder === "build") ?? [];
    const diagnostics = stored.map(diagnosticOf);
    return await this.settle({ finder: "build", diagnostics });
  }

  /** Stores what a part of a run found. The result says what is news. */
  async settle(
    found: Found,
    onChange?: (change: ConditionChange) => Promise<void>,
  ): Promise<readonly Diagnostic[]> {
    const stored = await this.read();
    const { conditions, diagnostics, changes } = settle(stored ?? [], found, this.host.now());
    const isSame = JSON.stringify(stored) === JSON.stringify(conditions);
    // A run that fails before the first publish leaves nothing behind.
    const isKept = found.isPartial !== true || stored !== undefined;
    if (!isSame && isKept) await this.file?.tryReplace({ version: 1, conditions }, 1);
    for (const change of changes) await onChange?.(change);
    return diagnostics;
  }
}

function diagnosticOf(condition: Condition): Diagnostic {
  const {
    finder: _finder,
    since: _since,
    later: _later,
    reminders: _reminders,
    ...diagnostic
  } = condition;
  return diagnostic;
}

/** The folder of a list may come from elsewhere. */
function safeToPrint(condition: Condition): Condition {
  const texts = (["message", "subject", "hint", "cause"] as const).flatMap((key) => {
    const text = condition[key];
    return text === undefined ? [] : [[key, printable(text, LONGEST)]];
  });
  return { ...condition, ...(Object.fromEntries(texts) as Partial<Condition>) };
}

const isStored = objectOf<StoredConditions>({
  version: oneOf([1]),
  conditions: arrayOf(
    objectOf<Condition>(
      {
        code: isText,
        severity: isText,
        message: isText,
        finder: isText,
        since: isDate,
        reminders: isNumber,
      },
      { subject: isText, hint: isText, cause: isText, later: isText, all: arrayOf(isText) },
    ),
  ),
});
