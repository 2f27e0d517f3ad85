import { holdCommandLine } from "../build/state/hold.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { type Attention, conditionAttention } from "../pages/headline.ts";
import { type Html, html } from "../pages/html.ts";
import { isUnproved } from "../resolvers/last-proofs.ts";
import { agoText } from "./ago-text.ts";
import type { HeldList } from "./held-list.ts";
import { type History, type Problem, type Run, problemsOf } from "./history.ts";
import type { StatusView } from "./status-page.ts";

/** What an operator should look at, the most important first. Never empty if clients cannot rely on the lists. */
export function attentionOf(view: StatusView): Attention[] {
  const { isHealthy, status, reason } = view.health;
  const found = problemsIn(view);
  if (isHealthy || status === "starting" || found.length > 0) return found;
  return [{ tone: "bad", title: "The lists are not up to date", details: [sentence(reason)] }];
}

/** A reason as a sentence. */
export function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

function problemsIn({ history, health, now, asks }: StatusView): Attention[] {
  return [
    ...failureAttention(history, now),
    ...refusalAttention(history, now),
    ...health.held.map((one) => heldAttention(one, asks.listNames.length > 1, now)),
    ...health.conditions.map(conditionAttention),
    ...health.resolvers.filter(isUnproved).map(({ resolver, list, outcome, detail }) => ({
      tone: "warn" as const,
      title: `The resolver ${resolver} is not proved to answer from ${list}`,
      details: [`Outcome: ${outcome ?? "none"}${detail === null ? "" : `: ${detail}`}`],
    })),
  ];
}

function failureAttention({ runs }: History, now: number): Attention[] {
  const last = runs.at(-1);
  if (last === undefined || last.outcome !== "failed") return [];
  return [{ tone: "bad", title: "The last run failed", details: causesOf(last, now) }];
}

function refusalAttention({ lastRefusal }: History, now: number): Attention[] {
  if (lastRefusal?.problem === undefined || lastRefusal.isOver === true) return [];
  const title = "The last list was refused; the previous one is served";
  return [{ tone: "warn", title, details: causesOf(lastRefusal, now) }];
}

function causesOf(run: Run, now: number): Html[] {
  const causes = problemsOf(run).flatMap(({ code, message, at, cause, hint }: Problem) => [
    html`${message} <span class="faint">(<code>${code}</code>, ${agoText(run.at, now)})</span>`,
    ...(at === undefined ? [] : [html`<code>${at}</code>`]),
    ...(cause === undefined ? [] : [html`Because: ${cause}`]),
    ...(hint === undefined ? [] : [html`Hint: ${hint}`]),
  ]);
  return causes;
}

function heldAttention(
  { list, since, by, build }: HeldList,
  isOneOfSeveral: boolean,
  now: number,
): Attention {
  const what =
    since === null || build === null
      ? "Its state cannot be read."
      : html`It stays at the build of ${momentText(build)}, held ${agoText(since, now)} by
        ${by ?? "unknown"}.`;
  const end = html`Runs publish nothing until
    <code>${holdCommandLine("hold --end", isOneOfSeveral ? list : undefined)}</code>`;
  return { tone: "warn", title: `${list} is held at an earlier build`, details: [what, end] };
}
