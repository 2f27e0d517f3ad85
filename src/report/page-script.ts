import { cancelsRewrite, decide, decideAmong, liveRewrite, strongest } from "../meaning/verdict.ts";
import { matchesFrom, matchesPattern } from "../syntax/name-pattern.ts";
import {
  type SearchIndex,
  hasHash,
  hashesOf,
  isBelow,
  pageAnswer,
  pageHash,
} from "./page-search.ts";

/** Runs in the page, which contains all data that the search needs. */
function startSearch(): void {
  const index = JSON.parse(document.querySelector("#index")!.textContent) as SearchIndex;
  const field = document.querySelector("#name")!;
  const answer = document.querySelector("#answer")!;
  let hashes: Float64Array[] | undefined;
  const words = {
    blocked: "blocked",
    allowed: "allowed",
    rewritten: "rewritten",
    neither: "not in the list",
  };
  const show = (): void => {
    const name = hostOf(field.value);
    if (name === "") return void (answer.textContent = "");
    hashes ??= index.groups.map((group) => hashesOf(group));
    const { verdict, rule, source, line, partial } = pageAnswer(name, index, hashes);
    const from =
      source === undefined ? "" : `, from ${index.sources[source] ?? ""}${line ? `:${line}` : ""}`;
    const others =
      partial.length === 0 ? "" : `; for some clients or query types: ${partial.join(", ")}`;
    answer.textContent = `${name}: ${words[verdict]}${rule === undefined ? "" : ` by ${rule}${from}`}${others}`;
    answer.className = verdict;
  };
  document.querySelector("#search")!.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  field.addEventListener("input", show);
  show();
}

/** The host name in the input, which may be a URL. */
function hostOf(input: string): string {
  const text = input.trim().toLowerCase();
  try {
    return new URL(text.includes("://") ? text : `http://${text}`).hostname.replace(/\.$/, "");
  } catch {
    return text;
  }
}

/** The part of the browser's API that is used above; the compiler options have no DOM types. */
interface EventSource {
  addEventListener(kind: string, listener: (event: { preventDefault(): void }) => void): void;
}
declare const document: {
  querySelector(
    selector: string,
  ): ({ textContent: string; className: string; value: string } & EventSource) | null;
};

/** The script of the page, from the source of functions that the tests call directly. */
export const PAGE_SCRIPT: string = [
  pageHash,
  hashesOf,
  hasHash,
  isBelow,
  matchesFrom,
  matchesPattern,
  strongest,
  cancelsRewrite,
  liveRewrite,
  decideAmong,
  decide,
  pageAnswer,
  hostOf,
  startSearch,
]
  .map(String)
  // A bundler may have renamed it.
  .concat(`${startSearch.name}();`)
  .join("\n");
