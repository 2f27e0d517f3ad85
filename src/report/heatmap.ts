import { type Html, html } from "../pages/html.ts";
import { tableOf } from "../pages/table.ts";

/** Sources that are drawn; a larger table is no picture any more. */
const MOST = 40;

/** How much of each source's rules another has as well: a table whose cells are coloured by their figures. */
export function heatmap(names: readonly string[], shared: readonly (readonly number[])[]): Html {
  const shown = names.slice(0, MOST);
  const heads = [
    html`<th scope="col">of the rules of … also in</th>`,
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
  return html`${tableOf("What sources share", heads, rows, "heat")}
  ${rest > 0 ? html`<p class="faint">The first ${MOST} sources; ${rest} more are in stats --json.</p>` : undefined}`;
}

function cell(shared: readonly (readonly number[])[], row: number, column: number): Html {
  if (row === column) return html`<td class="own">–</td>`;
  const own = shared[row]![row]!;
  const percent = own === 0 ? 0 : Math.floor((shared[row]![column]! / own) * 100);
  // Ten steps are as many as an eye tells apart.
  return html`<td class="h${Math.min(9, Math.floor(percent / 10))}">${percent}</td>`;
}
