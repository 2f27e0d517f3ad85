import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import type { Loss, LossReason } from "../../build/build-outcome.ts";
import type { WrittenOutput } from "../../build/list-outputs.ts";
import { bytesText } from "./summary.ts";

export function writtenText({ format, names, bytes, parts }: WrittenOutput): string {
  const files = parts !== undefined && parts > 1 ? `, ${parts} files` : "";
  return `${format}, ${countText(names ?? 0, "name")}, ${bytesText(bytes ?? 0)}${files}`;
}

/** What a primary needs to get from the zone before to this one. */
export function updatesText({ updates }: WrittenOutput): string | undefined {
  if (updates === undefined) return undefined;
  if ("whole" in updates) return `updates: the whole zone, because ${WHOLE[updates.whole]}`;
  const { file, records, messages } = updates;
  return `updates: ${countText(records, "record")} in ${countText(messages, "message")}, ${printable(file)}`;
}

const WHOLE = {
  first: "it has no earlier version",
  settings: "its settings changed",
  large: "a large part of it changed",
} as const;

/** Rules that a format cannot express or has no room for. docs/reference/formats.md explains the reasons. */
export function lossLines(written: WrittenOutput): string[] {
  const { losses = [], leftOut = [] } = written;
  const of = (wanted: LossReason): Loss[] => losses.filter(({ reason }) => reason === wanted);
  const [narrowed, widened, excepted] = [of("narrowed"), of("widened"), of("excepted")];
  const expanded = of("expanded");
  const told = new Set([...narrowed, ...widened, ...excepted, ...expanded]);
  const others = losses.filter((loss) => !told.has(loss));
  const left = someOf(leftOut.map(sourceText));
  return [
    ...narrowed.map(
      ({ count }) =>
        `blocks exact names only: subdomains of ${countText(count, "rule")} are blocked only if a source lists them`,
    ),
    ...widened.map(
      ({ count, examples }) =>
        `blocks more than intended: ${numberText(count)} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...excepted.map(
      ({ count, examples }) =>
        `narrowed or skipped because a subdomain is allowed: ${countText(count, "name")} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...expanded.map(
      ({ count, examples }) =>
        `written as known names: ${countText(count, "pattern")} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...(others.length === 0 ? [] : [`skipped: ${others.map(lossText).join(", ")}`]),
    ...(left === "" ? [] : [`over the limit: ${left}`]),
  ];
}

function sourceText({
  source,
  names,
}: {
  readonly source: string;
  readonly names: number;
}): string {
  return `${printable(source, 40)} ${numberText(names)}`;
}

function lossText({ reason, count, examples }: Loss): string {
  const example = examples[0] === undefined ? "" : ` (${printable(examples[0], 40)})`;
  return `${reason} ${numberText(count)}${example}`;
}
