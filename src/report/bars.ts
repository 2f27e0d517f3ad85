import { numberText } from "../diagnostics/number-text.ts";
import { type Html, html } from "../pages/html.ts";

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** A part of the value, drawn darker. */
  readonly part?: number;
}

/** A bar chart. The numbers are text, so that they can be read without the picture. */
export function bars(label: string, rows: readonly Bar[], partName?: string): Html {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const width = (value: number): string => ((value / most) * 100).toFixed(2);
  const items = rows.map(
    ({ label: name, value, part }) =>
      html`<li>
        <span class="name">${name}</span>
        <span class="number"
          >${numberText(value)}${part === undefined ? undefined : html`<span class="faint">, ${partName} ${numberText(part)}</span>`}</span
        >
        <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect class="whole" width="${width(value)}" height="4" />
          ${part === undefined ? undefined : html`<rect class="part" width="${width(part)}" height="4" />`}
        </svg>
      </li>`,
  );
  return html`<ul class="bars" aria-label="${label}">
    ${items}
  </ul>`;
}
