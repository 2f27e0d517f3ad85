import type { SourceConfig } from "./config.ts";
import { feedProblems, isFeed } from "./feed-values.ts";

/** Problems of a source whose fields have the right types. */
export function* sourceProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  yield* feedProblems(source, at);
  yield* keepProblems(source, at);
  const { auth, headers_file } = source;
  const isAddress = /^https?:\/\//i.test(source.source);
  if ((auth !== undefined || headers_file !== undefined) && !isAddress)
    yield { message: `${at} has keys, but no URL`, hint: "Remove auth and headers_file" };
  if (auth !== undefined && Object.keys(auth).length !== 1)
    yield {
      message: `${at}.auth must have either bearer_file or basic_file`,
      hint: "Other headers go into headers_file",
    };
}

/** The same for a source of a list. */
export function* blockedSourceProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  yield* sourceProblems(source, at);
  const { type = "adblock" } = source;
  if (type === "tranco" || type === "umbrella")
    yield {
      message: `${at}.type is ${type}, a list of popular names, which would all be blocked`,
      hint: "Move it to ranks; to block its names anyway, write type: csv with column: 2",
    };
}

/** Lines of other formats mean something only beside the lines around them. */
const KEEPABLE: ReadonlySet<string> = new Set(["adblock", "hosts", "domains"]);

function* keepProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  const { type = "adblock", remember, max_age } = source;
  if (remember !== undefined && !KEEPABLE.has(type) && !isFeed(source))
    yield {
      message: `${at}.remember is not for type ${type}`,
      hint: "It is for feeds, adblock, hosts and domains",
    };
  if (max_age !== undefined && remember === undefined)
    yield { message: `${at}.max_age needs remember`, hint: "Write how long rules are remembered" };
}
