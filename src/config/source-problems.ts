import type { SourceConfig } from "./config.ts";
import { feedProblems, isFeed } from "./feed-values.ts";

/** The 42 bytes of a key: the letters Ed, its number, and the key itself. */
const PUBLIC_KEY = /^RW[Q-T][A-Za-z0-9+/]{53}$/;

/** Problems of a source whose fields have the right types. */
export function* sourceProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  yield* feedProblems(source, at);
  yield* keepProblems(source, at);
  const { auth, headers_file, key } = source;
  const isAddress = /^https?:\/\//i.test(source.source);
  if ((auth !== undefined || headers_file !== undefined) && !isAddress)
    yield { message: `${at} has keys, but no URL`, hint: "Remove auth and headers_file" };
  if (key !== undefined && !isAddress)
    yield { message: `${at} has a key, but no URL`, hint: "Remove key: files are not signed" };
  const keys = key === undefined ? [] : [key].flat();
  if (key !== undefined && (keys.length === 0 || !keys.every((one) => PUBLIC_KEY.test(one))))
    yield {
      message: `${at}.key is not a public key of minisign`,
      hint: "Write the second line of its .pub file, which begins with RW",
    };
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
