import { momentText } from "../diagnostics/moment-text.ts";
import { type Html, html } from "./html.ts";

export type Tone = "good" | "warn" | "bad";

/** What a reader must know first. */
export interface Headline {
  readonly tone: Tone;
  /** One word. */
  readonly state: string;
  /** One sentence. */
  readonly sentence: string;
  readonly detail?: Html | string | undefined;
  /** Entries of a definition list. */
  readonly figures: readonly Html[];
}

/** The card at the top of a page. */
export function headline({ tone, state, sentence, detail, figures }: Headline): Html {
  return html`<section class="card headline ${tone}" aria-label="Summary">
    <span class="state ${tone}">${state}</span>
    <p class="lead">${sentence}</p>
    ${detail === undefined ? undefined : html`<p>${detail}</p>`}
    <dl>${figures}</dl>
  </section>`;
}

/** Something that a person should look at. */
export interface Attention {
  readonly tone: Tone;
  readonly title: string;
  readonly details: readonly (Html | string)[];
}

/** A condition as a page shows it. */
interface Lasting {
  readonly message: string;
  readonly cause?: string;
  readonly hint?: string;
  readonly since: string;
}

export function conditionAttention({ message, cause, hint, since }: Lasting): Attention {
  const details = [
    html`Since ${momentText(since)}.`,
    ...(cause === undefined ? [] : [html`Because: ${cause}`]),
    ...(hint === undefined ? [] : [html`Hint: ${hint}`]),
  ];
  return { tone: "warn", title: message, details };
}

/** What a person should look at, or one sentence that says why there is nothing. */
export function attentionSection(items: readonly Attention[], nothing: string): Html {
  return html`<h2 id="attention">Needs attention</h2>
    ${
      items.length === 0
        ? html`<p class="faint">${nothing}</p>`
        : html`<ul class="attention">
            ${items.map(attentionItem)}
          </ul>`
    }`;
}

function attentionItem({ tone, title, details }: Attention): Html {
  return html`<li class="card ${tone}">
    <b class="${tone}">${title}</b>
    ${details.map((one) => html`<p>${one}</p>`)}
  </li>`;
}

/** A number with its unit, and what is worth knowing beside it. */
export function figure(label: string, value: Html | string, note = ""): Html {
  return html`<div>
    <dt>${label}</dt>
    <dd>${value}${note === "" ? undefined : html` <small>${note}</small>`}</dd>
  </div>`;
}
