import { skipBlanks } from "../bytes/blank.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { sourceError } from "./source-error.ts";

/** Bytes that are enough to recognise a response. */
const HEAD_BYTES = 1024;
/** Error messages of servers are shorter than this. */
const LONGEST_MESSAGE = 2048;

/** Does not match `[Adblock Plus 2.0]`, which is the header of a list. */
const JSON_START = /^(?:\{\s*(?:"|\}|$)|\[\s*(?:[{["\]\d-]|(?:true|false|null)\b|$))/;
const XML_START = /^<[!?/a-z]/i;
/** An HTTP status or its usual text. A name such as `404.example` has no blank after the number. */
const ERROR_START =
  /^(?:(?:http(?:\/[\d.]+)?|status|error)[\s:]*)?(?:(?:code[\s:]*)?[1-5]\d\d|error code[\s:]*\d+|error|(?:file |page |repository )?not found|access denied|forbidden|unauthori[sz]ed|bad (?:gateway|request)|gateway time-?out|internal server error|service (?:temporarily )?unavailable|too many requests|(?:api )?rate limit(?: exceeded)?|upstream (?:connect )?error|no healthy upstream|package size exceeded|invalid (?:request|token|signature)|account suspended|moved permanently|temporarily unavailable|null|undefined)[.!:,;]*(?:\s|$)/i;
/** A sentence: words that begin with a letter, without the special characters of rules. */
const SENTENCE = /^["'(]?\p{L}[\p{L}'’-]*[,;:]?(?:\s+[^\s|#*^$[\]]+){2,}$/u;

/**
 * Rejects what a server sends with status 200 instead of a list: JSON, XML, and messages such as `404: Not Found`. `head` is
 * the start of the text, or all of it.
 */
export function refuseOther(head: Uint8Array, isWhole: boolean, label: string): void {
  const start = skipBlanks(head, 0, Math.min(head.length, HEAD_BYTES));
  const text = decodeUtf8(head, start, Math.min(head.length, start + LONGEST_MESSAGE)).trimEnd();
  const what = otherThing(text, isWhole && head.length <= LONGEST_MESSAGE);
  if (what === undefined) return;
  const [first = ""] = text.split("\n", 1);
  throw sourceError(
    "source-not-list",
    `${what} instead of a list: ${label}`,
    `it begins with ${first.slice(0, 60)}`,
  );
}

function otherThing(text: string, isShort: boolean): string | undefined {
  if (XML_START.test(text)) return "XML";
  if (JSON_START.test(text)) return "JSON";
  if (!isShort || text === "") return undefined;
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim() !== "");
  const isMessage = ERROR_START.test(text) || lines.every((line) => SENTENCE.test(line.trim()));
  return isMessage ? "A message" : undefined;
}
