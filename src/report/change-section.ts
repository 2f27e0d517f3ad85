import { momentText } from "../diagnostics/moment-text.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { type Html, html } from "../pages/html.ts";
import { table } from "../pages/table.ts";
import type { ChangedNames, LastChange, RuleChange, ShownName } from "./last-change.ts";

/** Sources in the table; the rest are counted. */
const MOST_SOURCES = 20;

/** `25 rules were added and 3 removed`. */
export function changeText({ added, removed }: RuleChange): string {
  if (added === 0) return `${countText(removed, "rule was", "rules were")} removed`;
  const text = `${countText(added, "rule was", "rules were")} added`;
  return removed === 0 ? text : `${text} and ${numberText(removed)} removed`;
}

/** What changed since the build before. */
export function changeSection(change: LastChange | undefined): Html {
  return html`<h2>What changed</h2>
    ${change === undefined ? html`<p class="faint">Changes appear here after the second build.</p>` : changes(change)}`;
}

function changes({ since, rules, before }: LastChange): Html {
  const when = momentText(since);
  if (rules === "same")
    return html`<p>
      No rule changed since the build of ${when}. The list still has
      ${countText(before.rules, "rule")}.
    </p>`;
  if (rules === "unreadable")
    return html`<p>
      The list of the build of ${when} cannot be read, so that rules were not compared. It had
      ${countText(before.rules, "rule")}.
    </p>`;
  if (rules === "too-large")
    return html`<p>
      The build of ${when} had ${countText(before.rules, "rule")}. This page does not compare the
      rules of large lists. To compare them: <code>rules-compiler diff @1 @0</code>
    </p>`;
  return html`<p>Since the build of ${when}, ${changeText(rules)}.</p>
    <div class="columns">
      ${names("Newly blocked", "No name is newly blocked.", rules.blocked)}
      ${names("No longer blocked", "Every name that was blocked still is.", rules.freed)}
    </div>
    ${
      rules.patterns === 0
        ? undefined
        : html`<p class="faint">
            ${countText(rules.patterns, "changed pattern was", "changed patterns were")} compared by
            the names in both lists only, because patterns match names without end.
          </p>`
    }
    ${sources(rules)}`;
}

function names(title: string, nothing: string, { count, shown }: ChangedNames): Html {
  if (count === 0)
    return html`<div>
      <h3>${title}</h3>
      <p class="faint">${nothing}</p>
    </div>`;
  const more = count - shown.length;
  return html`<div>
    <h3>${title}: ${countText(count, "name")}</h3>
    <ul class="names">
      ${shown.map(changedName)}
    </ul>
    ${more > 0 ? html`<p class="faint">And ${countText(more, "more name")}.</p>` : undefined}
  </div>`;
}

function changedName({ name, rule, source, rank }: ShownName): Html {
  const from = [
    rank === undefined ? [] : `rank ${numberText(rank)}`,
    rule === "" ? [] : html`<code>${rule}</code>`,
    source === undefined ? [] : source,
  ].flat();
  return html`<li>
    ${name}
    <span class="faint">${from.map((one, index) => html`${index === 0 ? "" : " · "}${one}`)}</span>
  </li>`;
}

function sources({ bySource }: RuleChange): Html | undefined {
  if (bySource.length === 0) return undefined;
  const rows = bySource.slice(0, MOST_SOURCES).map(
    ({ source, added, removed }) =>
      html`<tr>
        <td>${source}</td>
        <td class="n" data-name="Rules added">${added === 0 ? "0" : `+${numberText(added)}`}</td>
        <td class="n" data-name="Rules removed">
          ${removed === 0 ? "0" : `−${numberText(removed)}`}
        </td>
      </tr>`,
  );
  const more = bySource.length - rows.length;
  return html`<h3>Changed rules by source</h3>
    ${table("Changed rules by source", ["Source", "#Rules added", "#Rules removed"], rows)}
    ${more > 0 ? html`<p class="faint">And ${countText(more, "more source")}.</p>` : undefined}`;
}
