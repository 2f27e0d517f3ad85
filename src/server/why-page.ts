import type { Explanation, LineFate, RuleInList } from "../explain/why.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { Html, html } from "../pages/html.ts";
import { htmlPage } from "../pages/html-page.ts";
import { table } from "../pages/table.ts";
import type { WhyOfList } from "./why-answers.ts";

interface WhyView {
  readonly query: URLSearchParams;
  readonly answer: { readonly error?: string; readonly lists?: readonly WhyOfList[] };
  readonly listNames: readonly string[];
}

/** Lines of sources that are shown; the rest are counted. */
const MOST_LINES = 20;

const LONGEST_NAME = 253;

const VERDICTS = {
  blocked: ["bad", "blocked"],
  allowed: ["good", "allowed"],
  rewritten: ["warn", "rewritten"],
  neither: ["", "neither blocked nor allowed"],
} as const;

/** The answer for a name, and a field for the next question. */
export function whyPage({ query, answer, listNames }: WhyView): string {
  const typed = typedIn(query);
  const body = html`<header>
      <h1>Is a name blocked?</h1>
      <a href="./">status</a>
    </header>
    <main>
      ${whyForm({ listNames }, query)}
      ${
        answer.error === undefined
          ? undefined
          : html`<section class="card bad" role="alert">${answer.error}</section>`
      }
      ${(answer.lists ?? []).map(listAnswer)}
    </main>`;
  return htmlPage(typed === "" ? "Is a name blocked?" : `Is ${typed} blocked?`, body);
}

/** A field to ask about a name. It needs no script. */
export function whyForm(
  { listNames }: Pick<WhyView, "listNames">,
  query: URLSearchParams = new URLSearchParams(),
): Html {
  return html`<form action="why" method="get" role="search">
    <input
      name="name"
      type="search"
      value="${typedIn(query)}"
      maxlength="${LONGEST_NAME}"
      required
      autocapitalize="none"
      autocomplete="off"
      spellcheck="false"
      placeholder="ads.example.com"
      aria-label="Name"
    />
    ${listNames.length > 1 ? listChoice(listNames, query) : undefined}
    <button>Is it blocked?</button>
  </form>`;
}

/** The name as it was typed. */
function typedIn(query: URLSearchParams): string {
  return printable(query.get("name") ?? "", LONGEST_NAME);
}

function listChoice(listNames: readonly string[], query: URLSearchParams): Html {
  const chosen = query.get("list");
  return html`<select name="list" aria-label="List">
    <option value="">all lists</option>
    ${listNames.map((one) =>
      one === chosen
        ? html`<option value="${one}" selected>${one}</option>`
        : html`<option value="${one}">${one}</option>`,
    )}
  </select>`;
}

function listAnswer({ list, names = [], problem }: WhyOfList): Html {
  return html`<h2>${list}</h2>
    ${problem === undefined ? undefined : html`<p class="warn">${problem.message}</p>`}
    ${names.map(explanation)}`;
}

function explanation({ name, verdict, rule, since, partial, lines, unseen }: Explanation): Html {
  const [tone, words] = VERDICTS[verdict];
  const more = lines.length - MOST_LINES;
  return html`<section class="card" aria-label="${name}">
    <div class="state ${tone}">${name}: ${words}</div>
    ${rule === undefined ? undefined : html`<div>by ${ruleText(rule)}</div>`}
    ${
      since === undefined
        ? undefined
        : html`<div class="faint">
            since
            ${momentText(since.at)}${since.isOldest ? " or earlier: no older build is stored" : ""}
          </div>`
    }
    ${partial.map((one) => html`<div>for some clients or query types: ${ruleText(one)}</div>`)}
    ${
      lines.length === 0 && unseen.length === 0
        ? html`<div class="faint">no line of any source names it or a parent domain</div>`
        : undefined
    }
    ${
      lines.length === 0
        ? undefined
        : table("Lines", ["line", "source", "fate"], lines.slice(0, MOST_LINES).map(lineRow))
    }
    ${more > 0 ? html`<div class="faint">and ${more} more lines</div>` : undefined}
    ${
      unseen.length === 0
        ? undefined
        : html`<div class="faint">not checked, changed since or not cached: ${someOf(unseen)}</div>`
    }
  </section>`;
}

function ruleText({ text, source, file, line }: RuleInList): Html {
  return html`<code>${printable(text, 300)}</code>
    <span class="faint">${source}, ${file}${line === 0 ? "" : `:${line}`}</span>`;
}

function lineRow({ text, source, file, line, meaning }: LineFate): Html {
  return html`<tr>
    <td><code>${printable(text, 300)}</code></td>
    <td data-name="source">
      ${source}
      <div class="faint"><code>${file}:${line}</code></div>
    </td>
    <td data-name="fate" class="faint">${meaning}</td>
  </tr>`;
}
