import { numberText } from "../diagnostics/number-text.ts";
import { type Html, html } from "../pages/html.ts";
import { table } from "../pages/table.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { FATE_ENTRIES, byRank } from "../explain/glossary.ts";

/** What became of the lines of all sources, in words. */
export function fateTable({ sources, lines }: RecordHeader): Html {
  const counts = new Map<string, number>();
  for (const { kept, dropped } of sources)
    for (const [fate, count] of [["kept", kept] as const, ...Object.entries(dropped)])
      counts.set(fate, (counts.get(fate) ?? 0) + count);
  const { kept = 0, ...others } = Object.fromEntries(counts);
  const rows = [["kept", kept] as const, ...byRank(others)].map(
    ([fate, count]) =>
      html`<tr>
        <td>${FATE_ENTRIES.get(fate)?.meaning} <code class="faint">${fate}</code></td>
        <td class="n" data-name="Lines">${numberText(count)}</td>
        <td class="n" data-name="Share">${shareText(count, lines)}</td>
      </tr>`,
  );
  return table("What became of the lines", ["Fate", "#Lines", "#Share"], rows);
}

function shareText(count: number, all: number): string {
  const text = ((100 * count) / Math.max(1, all)).toFixed(1);
  return text === "0.0" && count > 0 ? "< 0.1 %" : `${text} %`;
}
