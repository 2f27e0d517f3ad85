import { decodeUtf8 } from "../bytes/utf8.ts";
import { numberText } from "../diagnostics/number-text.ts";
import { sourceError } from "./source-error.ts";

/** Headers are at the start of a list. */
const HEAD_BYTES = 8192;
/** A list with a smaller share of what it declares is taken as truncated. */
const LEAST_SHARE = 0.9;
/** Lists count in different ways, which matters for small ones. */
const MOST_MISSING = 20;
/** A comment such as `! Number of entries: 1234`, `# Domains: 26,029`, `#TOTAL_LINES=110862` or `# Blocked: 1.747 domains`. */
const DECLARED =
  /^\s*[!#;]+[\s|]*(?:(?:the )?(?:total )?(?:number of (?:unique )?(?:domain |network |blocked )?(?:entries|domains|names|hosts|hostnames|rules|filters|urls)|(?:domain |entry |rule )?count|entries|domains|blocked|rules|(?<lines>(?:total[ _])?lines)))\s*[:=]\s*(?<number>\d{1,3}(?:[.,']\d{3})+|\d+)(?:\s+(?:domains|entries|names|hosts|rules|filters|\[.*))?\s*$/im;

/** What a list says about its size. */
export interface DeclaredCount {
  readonly number: number;
  /** Whether it counts lines, which may include comments and blank ones. */
  readonly isOfLines: boolean;
}

/** The number of entries that a list names in its header; undefined if it names none. `text` is its start. */
export function declaredCount(text: Uint8Array): DeclaredCount | undefined {
  const head = decodeUtf8(text, 0, Math.min(text.length, HEAD_BYTES));
  const { number, lines } = DECLARED.exec(head)?.groups ?? {};
  if (number === undefined) return undefined;
  return { number: Number(number.replace(/[.,']/g, "")), isOfLines: lines !== undefined };
}

/** Throws a `CompilerError` if a list has far fewer entries than it declares. */
export function refuseTruncated(
  label: string,
  entries: number,
  declared: number | undefined,
): void {
  if (declared === undefined || declared - entries <= MOST_MISSING) return;
  if (entries >= declared * LEAST_SHARE) return;
  throw sourceError(
    "source-truncated",
    `${label} is not complete`,
    `its header names ${numberText(declared)} entries, it has ${numberText(entries)}`,
  );
}
