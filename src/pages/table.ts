import { type Html, html } from "./html.ts";

/** Names of columns with figures begin with `#`; on a phone the cells have their names themselves. */
export function table(label: string, columns: readonly string[], rows: readonly Html[]): Html {
  const heads = columns.map((column) =>
    column.startsWith("#") ? html`<th class="n">${column.slice(1)}</th>` : html`<th>${column}</th>`,
  );
  return tableOf(label, heads, rows);
}

/** A table that scrolls by itself where it is too wide, also by keys. */
export function tableOf(
  label: string,
  heads: readonly Html[],
  rows: readonly Html[],
  kind?: string,
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="${kind}">
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
