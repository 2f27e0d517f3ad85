import { decide, liveRewrite, strongest } from "../meaning/verdict.ts";
import { matchesFrom, matchesPattern } from "../syntax/name-pattern.ts";
import {
  type SearchIndex,
  hasHash,
  hashesOf,
  isBelow,
  pageAnswer,
  pageHash,
} from "./page-search.ts";

/** What the search does in the page: everything it needs is in the page itself. */
function startSearch(): void {
  const index = JSON.parse(document.querySelector("#index")!.textContent) as SearchIndex;
  const field = document.querySelector("#name")!;
  const answer = document.querySelector("#answer")!;
  let hashes: Float64Array[] | undefined;
  const words = {
    blocked: "blocked",
    allowed: "allowed",
    rewritten: "answered otherwise",
    neither: "not in the list",
  };
  const show = (): void => {
    const name = nameIn(field.value);
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

/** The name in what somebody typed: an address will do. */
function nameIn(typed: string): string {
  const text = typed.trim().toLowerCase();
  try {
    return new URL(text.includes("://") ? text : `http://${text}`).hostname.replace(/\.$/, "");
  } catch {
    return text;
  }
}

/** As much of a browser as is used above; the compiler knows none. */
interface EventSource {
  addEventListener(kind: string, listener: (event: { preventDefault(): void }) => void): void;
}
declare const document: {
  querySelector(
    selector: string,
  ): ({ textContent: string; className: string; value: string } & EventSource) | null;
};

/** The script of the page, made from the very functions that are tested here. */
export const PAGE_SCRIPT: string = [
  pageHash,
  hashesOf,
  hasHash,
  isBelow,
  matchesFrom,
  matchesPattern,
  strongest,
  liveRewrite,
  decide,
  pageAnswer,
  nameIn,
  startSearch,
]
  .map(String)
  .concat("startSearch();")
  .join("\n");
