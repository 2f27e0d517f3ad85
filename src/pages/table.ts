import { type Html, html } from "./html.ts";

/** `#` marks columns of numbers. On narrow screens, `data-name` of a cell replaces the column header. */
export function table(label: string, columns: readonly string[], rows: readonly Html[]): Html {
  const headers = columns.map((column) =>
    column.startsWith("#")
      ? html`<th scope="col" class="n">${column.slice(1)}</th>`
      : html`<th scope="col">${column}</th>`,
  );
  return tableOf(label, headers, rows);
}

/** A table in a box that scrolls horizontally, with the keyboard too. */
export function tableOf(
  label: string,
  headers: readonly Html[],
  rows: readonly Html[],
  kind?: string,
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="${kind}">
      <thead>
        <tr>
          ${headers}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
