import { countText } from "../diagnostics/number-text.ts";
import { type Html, html } from "../pages/html.ts";

/** `5 minutes ago`, with the moment itself for machines and as a tooltip. */
export function agoText(at: string | null, now: number): Html {
  if (at === null) return html`never`;
  const minutes = minutesBetween(Date.parse(at), now);
  const text = minutes < 1 ? "just now" : `${spanText(minutes)} ago`;
  return html`<time datetime="${at}" title="${at}">${text}</time>`;
}

/** `in 5 minutes`. */
export function untilText(moment: number, now: number): string {
  const minutes = minutesBetween(now, moment);
  return minutes < 1 ? "now" : `in ${spanText(minutes)}`;
}

function minutesBetween(start: number, end: number): number {
  return Math.max(0, Math.round((end - start) / 60_000));
}

function spanText(minutes: number): string {
  if (minutes < 120) return countText(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return hours < 48 ? countText(hours, "hour") : countText(Math.round(hours / 24), "day");
}
