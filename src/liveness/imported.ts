import { decodeUtf8 } from "../bytes/text.ts";
import { foldedName, namesOfLine } from "../meaning/line.ts";
import { isIpv4Text, isIpv6Text } from "../syntax/hosts-line.ts";
import { type Mark, type Observations, areObservations, isName } from "./observations.ts";

/** What an import added. */
export interface Imported {
  readonly missing: number;
  readonly answered: number;
  /** Lines that say nothing about a name. */
  readonly ignored: number;
}

/** A file of another tool: when it was written, and the mark of a name that it says does not exist. */
interface ForeignFile {
  readonly path: string;
  readonly day: number;
  readonly mark: Mark;
}

/**
 * Takes what other tools saw: JSON lines with a name and a status (massdns, zdns), lines such as `name NXDOMAIN` or `name A 192.0.2.1`
 * (loops of dig, massdns), and names or rules alone, which do not exist. Files of observations are merged. Throws a `CompilerError`.
 */
export function importInto(
  observations: Observations,
  bytes: Uint8Array,
  { path, day, mark }: ForeignFile,
): Imported {
  const text = decodeUtf8(bytes);
  const counts = { missing: 0, answered: 0, ignored: 0 };
  if (areObservations(text)) {
    const before = observations.size;
    observations.take(bytes, path);
    return { ...counts, missing: 0, answered: observations.size - before };
  }
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:$|[#!;])/.test(line)) continue;
    const said = saidBy(line.trim());
    if (said.length === 0) counts.ignored++;
    for (const { name, exists } of said) {
      observations.add(name, [{ mark: exists ? "+" : mark, day }]);
      counts[exists ? "answered" : "missing"]++;
    }
  }
  return counts;
}

interface Said {
  readonly name: string;
  readonly exists: boolean;
}

const STATUS = /^(?<name>\S+?)[\s,;:]+(?:\S+[\s,;]+)*?(?<status>NOERROR|NXDOMAIN)\b/i;
const RECORD = /^(?<name>\S+)[\s,;]+(?:\d+\s+)?(?:IN\s+)?(?:(?:A|AAAA|CNAME|NS)\s+)?(?<data>\S+)$/i;
const OTHER_STATUS =
  /^\S+[\s,;:]+(?:\S+[\s,;]+)*?(?:SERVFAIL|REFUSED|FORMERR|NOTIMP|TIMEOUT|ERROR)\b/i;

function saidBy(line: string): Said[] {
  if (line.startsWith("{")) return saidByJson(line);
  const { name, status } = STATUS.exec(line)?.groups ?? {};
  if (name !== undefined) return named(name, status!.toUpperCase() === "NOERROR");
  if (OTHER_STATUS.test(line)) return [];
  const record = RECORD.exec(line)?.groups;
  // `0.0.0.0 name` is a line of a list of dead names.
  if (record !== undefined && !isAddress(record["name"]!)) {
    const data = record["data"]!;
    return isAddress(data) || data.endsWith(".") ? named(record["name"]!, true) : [];
  }
  return namesOfLine(line).flatMap((one) => named(one, false));
}

function saidByJson(line: string): Said[] {
  try {
    const { name, status } = JSON.parse(line) as { name?: unknown; status?: unknown };
    if (typeof name !== "string") return [];
    return status === "NOERROR" || status === "NXDOMAIN" ? named(name, status === "NOERROR") : [];
  } catch {
    return [];
  }
}

function isAddress(text: string): boolean {
  return isIpv4Text(text) || isIpv6Text(text);
}

function named(written: string, exists: boolean): Said[] {
  const name = foldedName(written);
  return isName(name) ? [{ name, exists }] : [];
}
