import { VERSION } from "../diagnostics/version.ts";
import type { Outcome } from "../build/state/last-proof.ts";
import type { HookEvent } from "../config/hook-fields.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";

/** A published file. */
export interface HookFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a hook receives: as JSON on standard input or in the body of a request, and as environment variables. */
export interface HookMessage {
  readonly tool: string;
  readonly event: HookEvent;
  readonly list: string;
  /** When the run ended. */
  readonly at: string;
  /** The list file; absent if the list goes to standard output. */
  readonly output?: string;
  /** All published files; a manifest is the last. */
  readonly files: readonly HookFile[];
  /** The start of the SHA-256 of the list file. */
  readonly build?: string;
  readonly rules?: number;
  /** Rules that were added and removed since the build before, if both are known. */
  readonly added?: number;
  readonly removed?: number;
  /** Sources that were skipped or replaced by their last good copy. */
  readonly degraded: readonly string[];
  /** Resolvers that do not answer from the list. */
  readonly unproved: readonly { readonly resolver: string; readonly outcome: Outcome }[];
  /** What this run found that earlier runs did not report: problems that began or ended. */
  readonly news: readonly { readonly code: string; readonly message: string }[];
  /** Why the list was not published. */
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/** What is known about a list, whatever the event is. */
export type ListFacts = Omit<HookMessage, "tool" | "event">;

const MOST_TEXT = 1000;

export function messageOf(event: HookEvent, facts: ListFacts): HookMessage {
  const message = { tool: `rules-compiler ${VERSION}`, event, ...facts };
  // A hook may learn of an earlier publish from a run that was refused.
  return event === "published" ? { ...message, problems: [] } : message;
}

/** The message in one line, for people. */
export function lineOf(message: HookMessage): string {
  const { event, list, rules, added, removed, degraded, unproved, problems } = message;
  const parts = [`${printable(list)}: ${event}`];
  if (rules !== undefined) parts.push(countText(rules, "rule"));
  if (added !== undefined) parts.push(`${added} added`);
  if (removed !== undefined) parts.push(`${removed} removed`);
  if (event === "degraded" && degraded.length > 0)
    parts.push(`affected sources: ${someOf(degraded)}`);
  if (event !== "published" && unproved.length > 0)
    parts.push(`resolvers: ${someOf(unproved.map((one) => `${one.resolver} is ${one.outcome}`))}`);
  const [problem] = problems;
  if (problem !== undefined) parts.push(`[${problem.code}] ${problem.message}`);
  return printable(parts.join("; "), MOST_TEXT);
}

/** The message as environment variables. No value contains a control character. */
export function variablesOf(message: HookMessage): Record<string, string> {
  const { event, list, at, output, files, build, rules, added, removed, degraded } = message;
  const [problem] = message.problems;
  const values: Record<string, string | number | undefined> = {
    EVENT: event,
    LIST: list,
    AT: at,
    OUTPUT: output,
    FILES: files.length,
    BUILD: build,
    RULES: rules,
    ADDED: added,
    REMOVED: removed,
    DEGRADED: degraded.length,
    UNPROVED: message.unproved.length,
    PROBLEM: problem?.code,
    MESSAGE: lineOf(message),
  };
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [`RULES_COMPILER_${name}`, printable(String(value), 4096)]),
  );
}
