import { type Html, html } from "./html.ts";

/** Names of columns with figures begin with `#`; on a phone the cells have their names themselves. */
export function table(label: string, columns: readonly string[], rows: readonly Html[]): Html {
  const heads = columns.map((column) =>
    column.startsWith("#") ? html`<th class="n">${column.slice(1)}</th>` : html`<th>${column}</th>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
