import { type Html, html } from "../pages/html.ts";
import { tableOf } from "../pages/table.ts";

/** Sources in the table; a larger one is not readable. */
const MOST = 40;

/** The share of each source's rules that another source also has: a table with cells coloured by their value. */
export function heatmap(names: readonly string[], shared: readonly (readonly number[])[]): Html {
  const shown = names.slice(0, MOST);
  const headers = [
    html`<th scope="col">rules of source … that are also in source</th>`,
    ...shown.map((name, index) => html`<th scope="col" title="${name}">${index + 1}</th>`),
  ];
  const rows = shown.map(
    (name, row) =>
      html`<tr>
        <th scope="row"><span class="faint">${row + 1}</span> ${name}</th>
        ${shown.map((_, column) => cell(shared, row, column))}
      </tr>`,
  );
  const rest = names.length - shown.length;
  return html`${tableOf("Overlap of sources", headers, rows, "heat")}
  ${rest > 0 ? html`<p class="faint">Shows the first ${MOST} sources. See stats --json for ${rest} more.</p>` : undefined}`;
}

function cell(shared: readonly (readonly number[])[], row: number, column: number): Html {
  if (row === column) return html`<td class="self">–</td>`;
  const total = shared[row]![row]!;
  const percent = total === 0 ? 0 : Math.floor((shared[row]![column]! / total) * 100);
  // More than ten shades are hard to distinguish.
  return html`<td class="h${Math.min(9, Math.floor(percent / 10))}">${percent}</td>`;
}
