import type { SourceConfig } from "./config.ts";
import { feedProblems } from "./feed-values.ts";

/** Problems of a source whose fields have the right types. */
export function* sourceProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  yield* feedProblems(source, at);
  const { auth, headers_file } = source;
  const isAddress = /^https?:\/\//i.test(source.source);
  if ((auth !== undefined || headers_file !== undefined) && !isAddress)
    yield { message: `${at} has keys, but no address`, hint: "Remove auth and headers_file" };
  if (auth !== undefined && Object.keys(auth).length !== 1)
    yield {
      message: `${at}.auth must have either bearer_file or basic_file`,
      hint: "Other headers go into headers_file",
    };
}
