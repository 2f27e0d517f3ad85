import { countText } from "../../src/diagnostics/text.ts";
import { COUNTS, LABELS } from "../../src/explain/glossary.ts";
import type { AlarmView, Compiled, ListView, Problem, Why } from "./calls.ts";
import { element, numberText, sizeText } from "./element.ts";

/** What the page shows of a build. */

export function problemBox({
  severity,
  code,
  message,
  at,
  frame,
  hint,
  cause,
}: Problem): HTMLElement {
  const more = [
    ...(at === undefined ? [] : [element("p", { class: "faint" }, at)]),
    ...(frame === undefined ? [] : [element("pre", {}, frame)]),
    ...(cause === undefined ? [] : [element("p", {}, cause)]),
    ...(hint === undefined ? [] : [element("p", {}, element("b", {}, "What to do: "), hint)]),
  ];
  const title = element("p", {}, element("b", {}, `${severity}[${code}] `), message);
  return element("div", { class: `problem ${severity}` }, title, ...more);
}

const MOST_ALARMS = 5;

/** The lines that would have done harm. */
export function alarmBox(alarms: readonly AlarmView[]): Node[] {
  if (alarms.length === 0) return [];
  const count = alarms.reduce((sum, { more }) => sum + 1 + more, 0);
  const lines = alarms.slice(0, MOST_ALARMS).map(({ at, text, fate, meaning, more }) => {
    const rest = more === 0 ? "" : `, and ${countText(more, "more line")}`;
    const words = `${meaning} (${fate}${rest})`;
    return element("p", {}, element("b", {}, `${at} `), element("code", {}, text), ` ${words}`);
  });
  const others = alarms.length - MOST_ALARMS;
  if (others > 0) lines.push(element("p", { class: "faint" }, `… ${others} more`));
  const title = `${countText(count, "line")} would do harm and ${count === 1 ? "is" : "are"} dropped:`;
  return [element("div", { class: "problem error" }, element("p", {}, title), ...lines)];
}

/** How to get the lists that a page cannot fetch. Beside results, it takes one line. */
export function missingBox(missing: Compiled["missing"], hasResults: boolean): HTMLElement {
  const isOne = missing.length === 1;
  const those = isOne ? "it" : "them";
  const files = missing.map(({ address, file }) => `-o '${shell(file)}' '${shell(address)}'`);
  const command = element("pre", { tabindex: "0" }, `curl -fL ${files.join(" \\\n  ")}`);
  const how = `This page fetches nothing: download ${those} with this command, then drop ${isOne ? "the file" : "the files"} here.`;
  const what = `${countText(missing.length, "list")} at ${isOne ? "a URL" : "URLs"} ${isOne ? "is" : "are"} missing`;
  const parts = hasResults
    ? [
        element(
          "details",
          {},
          element("summary", {}, `${what}: how to add ${those}`),
          element("p", {}, how),
          command,
        ),
      ]
    : [element("p", {}, `${what}. ${how}`), command];
  return element("div", { class: "problem" }, ...parts);
}

function shell(text: string): string {
  return text.replaceAll("'", "'\\''");
}

export function summaryOf({ rules, lines, bytes, sources }: ListView, seconds: number): Node[] {
  const kept = sources.reduce((sum, one) => sum + one.kept, 0);
  const facts = [
    [LABELS.rules, numberText(rules)],
    [LABELS.lines, numberText(lines)],
    [LABELS.kept, numberText(kept)],
    [LABELS.dropped, numberText(lines - kept)],
    ["Size", sizeText(bytes)],
    ["Time", `${seconds.toFixed(2)} s`],
  ];
  return facts.map(([term, value]) =>
    element("div", {}, element("dt", {}, term!), element("dd", {}, value!)),
  );
}

/** What each source adds, and what pairs of them share. */
export function sourcesOf(list: ListView): Node[] {
  const { sources, cover } = list;
  const rows = sources.map((one) => {
    const shared = one.rules - one.onlyHere;
    const share = element("span", { class: "share", "aria-hidden": "true" });
    const part = (name: string, count: number): HTMLElement => {
      const bar = element("i", { class: name });
      bar.style.width = `${one.lines === 0 ? 0 : (100 * count) / one.lines}%`;
      return bar;
    };
    share.append(part("only", one.onlyHere), part("other", shared));
    const reasons = one.dropped.slice(0, 4).map(([fate, count]) => `${fate} ${numberText(count)}`);
    const more = one.dropped.length - 4;
    return [
      one.name,
      numberText(one.lines),
      numberText(one.rules),
      numberText(one.onlyHere),
      share,
      reasons.join(", ") + (more > 0 ? `, ${more} more` : ""),
    ];
  });
  const heads = ["Source", LABELS.lines, LABELS.rules, LABELS.onlyHere, "Share", LABELS.dropped];
  const idle = sources.map(({ name }) => name).filter((name) => !cover.includes(name));
  const advice =
    idle.length === 0
      ? "No source can be left out without losing rules."
      : `The list would be the same without ${idle.join(", ")}.`;
  return [
    ...(sources.length === 1 ? [] : [element("p", {}, advice)]),
    tableOf(heads, rows, [1, 2, 3]),
    element(
      "p",
      { class: "faint" },
      ...meaningOf("only", "rules that the list would lose without it"),
      ...meaningOf("other", "its other rules"),
      ...meaningOf("none", `${COUNTS.dropped[0]} lines`),
    ),
    ...overlapOf(list),
  ];
}

/** A colour of the bars; it stays on the line of its text. */
function meaningOf(part: string, text: string): (Node | string)[] {
  const words = [element("span", { class: `key ${part}` }), ` ${text}`];
  return [element("span", { class: "meaning" }, ...words), " "];
}

function overlapOf({ sources, overlap }: ListView): Node[] {
  if (sources.length < 2) return [];
  const rows = sources.map(({ name }, index) => [
    name,
    ...sources.map((_, other) => percentText(overlap[index]![other]!, overlap[index]![index]!)),
  ]);
  const heads = ["Rules of …", ...sources.map((_, index) => `${index + 1}`)];
  const numbered = rows.map(([name, ...rest], index) => [`${index + 1}. ${name!}`, ...rest]);
  return [
    element("h2", {}, "Overlap"),
    element("p", { class: "faint" }, "How many of a source's rules another one has, too."),
    tableOf(
      heads,
      numbered,
      sources.map((_, index) => index + 1),
    ),
  ];
}

function percentText(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`;
}

/** On a phone, each row becomes a block with the names of its cells. */
export function tableOf(
  heads: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
  numbers: readonly number[],
): HTMLElement {
  const styled = (index: number): Record<string, string> =>
    numbers.includes(index) ? { class: "n" } : {};
  const head = element(
    "tr",
    {},
    ...heads.map((one, index) => element("th", { ...styled(index), scope: "col" }, one)),
  );
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((one, index) =>
        element("td", { ...styled(index), ...(index > 0 && { "data-name": heads[index]! }) }, one),
      ),
    ),
  );
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": heads[0]! },
    table,
  );
}

const VERDICTS = {
  blocked: ["bad", "is blocked"],
  allowed: ["good", "is allowed"],
  rewritten: ["warn", "gets another answer"],
  neither: ["", "is neither blocked nor allowed"],
} as const;

export function whyOf({ name, verdict, rule, partial, lines, unblock }: Why): Node[] {
  const [tone, words] = VERDICTS[verdict];
  const out: Node[] = [
    element(
      "p",
      { class: "verdict" },
      element("span", {}, `${name} `),
      element("span", { class: tone }, words),
    ),
  ];
  if (rule !== undefined)
    out.push(
      element(
        "p",
        {},
        "by ",
        element("code", {}, rule.text),
        element("span", { class: "faint" }, `  ${rule.at}`),
      ),
    );
  for (const one of partial)
    out.push(
      element(
        "p",
        {},
        "for some clients or query types: ",
        element("code", {}, one.text),
        ` ${one.at}`,
      ),
    );
  if (unblock !== undefined)
    out.push(
      element(
        "p",
        {},
        "To unblock it: ",
        element("code", {}, `allow: ["${unblock.allow}"]`),
        `, which ${unblock.effect}`,
      ),
    );
  if (lines.length === 0)
    out.push(element("p", { class: "faint" }, "No line of any list names it or a parent domain."));
  else
    out.push(
      tableOf(
        ["Line", "Text", "What became of it"],
        lines
          .slice(0, 200)
          .map(({ at, text, fate, meaning, by }) => [
            at,
            element("code", {}, text.slice(0, 300)),
            fate === "kept" ? fate : `${meaning}${by === undefined ? "" : `: ${by}`}`,
          ]),
        [],
      ),
    );
  return out;
}
