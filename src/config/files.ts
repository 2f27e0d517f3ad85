import { printable } from "../diagnostics/printable.ts";
import type { FileConfig, SourceConfig } from "./config.ts";
import { isFeed } from "./feed-values.ts";
import { sourceProblems } from "./source-problems.ts";

/** Settings of a source that a file of names has, too: where it is, and how it is read. */
const SETTINGS: ReadonlySet<string> = new Set([
  "source",
  "type",
  "column",
  "delimiter",
  "pointer",
  "where",
  "mirrors",
  "required",
  "max_stale",
  "timeout",
  "member",
  "max_bytes",
  "auth",
  "headers_file",
  "key",
  "allow_private",
  "secret",
]);

/** A file of names as a source. */
export function sourceOf(file: FileConfig): SourceConfig {
  return typeof file === "string" ? { source: file } : file;
}

/** The type of a list of names: as written, or by its address. */
export function nameListType({
  type,
  source,
}: Pick<SourceConfig, "type" | "source">): NonNullable<SourceConfig["type"]> {
  return type ?? (/\.csv\b/i.test(source) ? "tranco" : "domains");
}

/** Problems of a file of names whose fields have the right types. */
export function* fileProblems(
  file: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  for (const key of Object.keys(file))
    if (!SETTINGS.has(key))
      yield {
        message: `${at}.${key} is only for sources`,
        hint: "Remove it: here, the file is read as a list of names",
      };
  yield* sourceProblems(file, at);
  const { type = "domains" } = file;
  if (!isFeed(file) && type !== "domains")
    yield {
      message: `${at}.type is ${printable(type)}, which is not a list of names`,
      hint: "Use tranco, csv with column, domains, or another feed",
    };
}
