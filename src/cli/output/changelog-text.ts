import { momentText } from "../../diagnostics/moment-text.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { hasChange } from "../../explain/effective-diff.ts";
import { type ListChange, isSame } from "../../explain/list-change.ts";
import type { RecordHeader } from "../../build/state/published-build.ts";
import { isDegraded } from "../../build/build-outcome.ts";
import { fileText } from "./change-text.ts";
import { markdownText } from "./markdown-text.ts";

const MOST = 8;

/** A build as a Markdown section. A build without changes gets one line, so that no build seems to be missing. */
export function changelogSection(
  at: string,
  change: ListChange,
  before: RecordHeader | undefined,
  now: RecordHeader | undefined,
): string {
  const { added, removed, rulesNow } = change;
  const lines = [`\n## ${momentText(at)}\n`];
  const sources = sourceLines(before, now);
  if (isSame(change) && sources.length === 0)
    return `${lines.join("\n")}\nNothing changed: ${countText(rulesNow, "rule")}.\n`;
  lines.push(
    `${countText(rulesNow, "rule")}: ${numberText(added.length)} added, ${numberText(removed.length)} removed.\n`,
    ...sources,
    ...nameLine("Newly blocked", "blocked", change),
    ...nameLine("No longer blocked", "freed", change),
    ...sharesLine(change),
    ...change.files.map((file) => `- ${markdownText(fileText(file))}`),
  );
  return `${lines.join("\n")}\n`;
}

function nameLine(heading: string, kind: "blocked" | "freed", { changes }: ListChange): string[] {
  const names = changes.filter((change) => hasChange(change, kind));
  if (names.length === 0) return [];
  const shown = names
    .slice(0, MOST)
    .map(({ name, self }) => `${self === kind ? "" : "below "}${nameText(name)}`);
  const more = names.length > MOST ? ` and ${numberText(names.length - MOST)} more` : "";
  return [`- ${heading}: ${countText(names.length, "name")}, ${shown.join(", ")}${more}`];
}

function nameText(name: string): string {
  return `\`${printable(name, 80).replaceAll("`", "")}\``;
}

function sharesLine({ bySource }: ListChange): string[] {
  if (bySource.length === 0) return [];
  const shown = bySource
    .slice(0, MOST)
    .map(({ source, added, removed }) => `${markdownText(source)} +${added} −${removed}`);
  const more = bySource.length > MOST ? ` and ${bySource.length - MOST} more` : "";
  return [`- By source: ${shown.join(", ")}${more}`];
}

/** Sources that were added or removed, or whose state changed. */
function sourceLines(before: RecordHeader | undefined, now: RecordHeader | undefined): string[] {
  if (before === undefined || now === undefined) return [];
  const old = new Map(before.sources.map((one) => [one.source, one]));
  const fresh = new Map(now.sources.map((one) => [one.source, one]));
  const came = now.sources.filter(({ source }) => !old.has(source));
  const went = before.sources.filter(({ source }) => !fresh.has(source));
  const worse = now.sources.filter(
    ({ source, state }) => isDegraded(state) && !isDegraded(old.get(source)?.state ?? state),
  );
  return [
    ...labelLine("New sources", came),
    ...labelLine("Removed sources", went),
    ...labelLine("Unavailable, replaced by cached copies or skipped", worse),
  ];
}

function labelLine(text: string, some: readonly { readonly label: string }[]): string[] {
  if (some.length === 0) return [];
  return [`- ${text}: ${some.map(({ label }) => markdownText(label)).join(", ")}`];
}
