import { createHash } from "node:crypto";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";

/** What happened to a list. `repaired`: a stopped run left half an entry, which was completed. `damaged`: the log was not as left. */
export const HISTORY_EVENTS = [
  "published",
  "accepted",
  "refused",
  "rolled-back",
  "held",
  "released",
  "repaired",
  "damaged",
] as const;

/** One event, before it is part of a log. */
export interface HistoryFact {
  readonly at: string;
  readonly event: (typeof HISTORY_EVENTS)[number];
  /** Who asked. */
  readonly by: string;
  readonly rules?: number;
  /** The sources of the list, with the SHA-256 of what was read; without it if a file changed since, or is large. */
  readonly from?: readonly { readonly source: string; readonly sha256?: string }[];
  /** SHA-256 of the published list. */
  readonly to?: string;
  /** When the build was made that was published again or held. */
  readonly of?: string;
  /** The guards that refused the list, or that were overruled. */
  readonly guards?: readonly string[];
  /** What was wrong with the log. */
  readonly found?: string;
}

/** An entry of the log. Each has the hash of the one before. */
export interface HistoryEntry extends HistoryFact {
  /** Its number, from 1 on. */
  readonly n: number;
  readonly prev: string;
  readonly hash: string;
}

/** Stands for the hash before the first entry. */
export const NO_HASH: string = "0".repeat(64);

const END = /,"hash":"(?<hash>[0-9a-f]{64})"\}$/;
/** `,"hash":"…"}` */
const END_LENGTH = 75;

/** The line of an entry, with its line feed, and its hash: the SHA-256 of the line without the hash. */
export function historyLine(
  fact: HistoryFact,
  n: number,
  prev: string,
): { readonly text: string; readonly hash: string } {
  const body = JSON.stringify({ n, ...fact, prev });
  const hash = sha256(encodeUtf8(body));
  return { text: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

/** The entry of a line without its line feed; undefined if it is not exactly what was written. */
export function readHistoryLine(line: Uint8Array): HistoryEntry | undefined {
  const split = line.length - END_LENGTH;
  if (split < 0) return undefined;
  const hash = END.exec(decodeUtf8(line, split, line.length))?.groups?.["hash"];
  const body = new Uint8Array(split + 1);
  body.set(line.subarray(0, split));
  body[split] = 0x7d;
  // The bytes are hashed, not the text: different bytes may decode to the same text.
  if (hash === undefined || sha256(body) !== hash) return undefined;
  try {
    const entry = JSON.parse(decodeUtf8(line, 0, line.length)) as Partial<HistoryEntry>;
    const isEntry =
      Number.isSafeInteger(entry.n) &&
      [entry.at, entry.by, entry.prev].every((text) => typeof text === "string") &&
      HISTORY_EVENTS.some((event) => event === entry.event);
    return isEntry ? (entry as HistoryEntry) : undefined;
  } catch {
    return undefined;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
