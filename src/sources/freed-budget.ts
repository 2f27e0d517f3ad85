import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { FreedThen } from "./ledger-state.ts";
import { DAY_MS } from "./size-judge.ts";

/** How many of so many names of others the new exceptions of a source, or the new entries of a file, may free in 30 days. */
export function mostFreed(names: number): number {
  return Math.max(20, Math.floor(names * 0.001));
}

const MONTH_MS = 30 * DAY_MS;

/** What a file of names frees. */
export interface FreedNow {
  readonly names: readonly string[];
  /** How many names the published list has. */
  readonly of: number;
}

/** What a file of names freed in the last 30 days. */
export function freedLately(
  freed: readonly FreedThen[] | undefined,
  now: number,
): readonly FreedThen[] {
  return freed?.filter(({ at }) => now - at < MONTH_MS) ?? [];
}

/** Adds what a text frees. Once a text was accepted that frees too much, only later ones count. */
export function freedWith(
  freed: readonly FreedThen[] | undefined,
  {
    freed: names,
    isBeyond,
  }: { readonly freed?: readonly string[] | undefined; readonly isBeyond?: boolean },
  at: number,
): readonly FreedThen[] | undefined {
  const before = names === undefined && isBeyond === true ? [] : freedLately(freed, at);
  const again = new Set(names);
  const older = before.map((one) => ({
    ...one,
    names: one.names.filter((name) => !again.has(name)),
  }));
  const all = [...older, { at, names: names ?? [] }].filter((one) => one.names.length > 0);
  return all.length === 0 ? undefined : all;
}

/** The problem of a file of names that frees too many, with those that it freed before; undefined for any other. */
export function tooManyFreed(
  label: string,
  { names, of }: FreedNow,
  lately: readonly FreedThen[],
): Diagnostic | undefined {
  const before = new Set(lately.flatMap((one) => one.names));
  for (const name of names) before.delete(name);
  const most = mostFreed(of);
  if (names.length === 0 || names.length + before.size <= most) return undefined;
  const count = countText(names.length, "name");
  const after = before.size === 0 ? "" : ` after ${numberText(before.size)} others`;
  const message = `${label} would free more than ${countText(most, "name")} within 30 days`;
  const cause = `its new entries would free ${count} of the published list${after}: ${someOf(names)}`;
  return errorOf("names-freed", message, { cause, all: names });
}
