import { decodeUtf8 } from "../bytes/text.ts";
import {
  CompilerError,
  type Diagnostic,
  type FileLocation,
  errorOf,
  warningOf,
} from "../diagnostics/render.ts";
import { DAY_MS, durationMs, printable, reasonOf } from "../diagnostics/text.ts";
import type { Decision } from "../documents/facts.ts";
import { type Host, HostError } from "../host/host.ts";
import { PLAIN_DOMAIN, isReservedName } from "../syntax/host-name.ts";
import { isListedSuffix } from "../syntax/public-suffix.ts";
import { quickAscii } from "../syntax/written-names.ts";

/** The file beside the configuration. */
export const DECISIONS_FILE = "decisions.txt";
/** The type of the source that it becomes. Configurations do not have it. */
export const DECISIONS_TYPE = "decisions";

/** Whether a source is the file of decisions beside the configuration. */
export function isDecisions({ type }: { readonly type?: string | undefined }): boolean {
  return type === DECISIONS_TYPE;
}

/** What a new file begins with. */
export const DECISIONS_HEAD = `# Decisions about names, which win over every source. rules-compiler allow and block write them; edit them freely.
# allow|block NAME [exact] [since DATE] [until DATE] [in LIST] [ref REFERENCE] [# REASON]
`;

const LINE = /^\s*(?<verdict>allow|block)\s+(?<name>\S+)(?<rest>.*)$/;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{3})?)?Z)?$/;
const KEYS = ["since", "until", "in", "ref"] as const;
type Key = (typeof KEYS)[number];

/** The decisions beside a configuration. Rejects with a `CompilerError`. */
export async function decisionsIn(folder: string, host: Host): Promise<Decision[]> {
  return readDecisions(await decisionsText(folder, host), DECISIONS_FILE);
}

/** The text of the decisions beside a configuration; "" without a file. Rejects with a `CompilerError`. */
export async function decisionsText(folder: string, host: Host): Promise<string> {
  try {
    return decodeUtf8(await host.readFile(host.path.join(folder, DECISIONS_FILE)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "ENOENT") return "";
    const cause = reasonOf(error.code, error.message);
    throw new CompilerError([errorOf("bad-decision", `Cannot read ${DECISIONS_FILE}`, { cause })]);
  }
}

/** Reads a file of decisions, in its order. Throws a `CompilerError` that lists every other line. */
export function readDecisions(text: string, file: string): Decision[] {
  const problems: Diagnostic[] = [];
  const decisions = text.split(/\r\n|\r|\n/).flatMap((line, index) => {
    if (isComment(line)) return [];
    const read = readDecision(line);
    if (!("problem" in read)) return [{ ...read, file, line: index + 1 }];
    const { problem, column, hint } = read;
    const at: FileLocation = { file, line: index + 1, column, frame: printable(line, 200) };
    const more = hint === undefined ? { at } : { at, hint };
    problems.push(errorOf("bad-decision", `Invalid decision: ${problem}`, more));
    return [];
  });
  if (problems.length > 0) throw new CompilerError(problems);
  return decisions;
}

/** A blank line or a comment. */
function isComment(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

type ReadDecision = Omit<Decision, "file" | "line">;

/** Reads one line; a problem has its column. */
export function readDecision(
  line: string,
): ReadDecision | { readonly problem: string; readonly column: number; readonly hint?: string } {
  const { verdict, name: written, rest } = LINE.exec(line)?.groups ?? {};
  if (verdict === undefined || written === undefined || rest === undefined) {
    const column = line.search(/\S/) + 1;
    return { problem: "a line begins with allow or block, and a name", column };
  }
  const nameAt = line.indexOf(written, line.indexOf(verdict) + verdict.length);
  const name = asciiName(written);
  const wrong = nameProblem(name);
  if (wrong !== undefined) {
    const host = hostIn(name);
    const hint = host !== undefined && { hint: `Write the name alone: ${verdict} ${host}` };
    return { problem: `${printable(written, 80)} ${wrong}`, column: nameAt + 1, ...hint };
  }
  // A reference may be `#12`.
  const note = /(?:^|\s)#(?!\d)(?<reason>.*)$/.exec(rest);
  const reason = note?.groups?.["reason"]?.trim() ?? "";
  const fields: Partial<Record<Key, string>> = {};
  let exact = false;
  let key: Key | undefined;
  const start = line.length - rest.length;
  const words = rest.slice(0, note?.index ?? rest.length).matchAll(/\S+/g);
  let end = start;
  for (const { 0: word, index } of words) {
    const column = start + index + 1;
    end = column + word.length;
    if (key !== undefined) {
      if ((key === "since" || key === "until") && !isDay(word))
        return { problem: `${printable(word, 40)} is not a date such as 2026-12-31`, column };
      fields[key] = word;
      key = undefined;
    } else if (word === "exact") exact = true;
    else if (isKey(word)) key = word;
    else {
      const known = "exact, since, until, in, ref, or # before the reason";
      return { problem: `${printable(word, 40)} is none of ${known}`, column };
    }
  }
  if (key !== undefined) return { problem: `${key} needs a value`, column: end };
  const { since, until, in: list, ref: reference } = fields;
  return {
    verdict: verdict === "block" ? "block" : "allow",
    name,
    exact,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(list !== undefined && { list }),
    ...(reference !== undefined && { reference }),
    ...(reason !== "" && { reason }),
  };
}

function isKey(word: string): word is Key {
  return (KEYS as readonly string[]).includes(word);
}

function isDay(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text));
}

/** In lower case and ASCII, without the final dot. */
function asciiName(text: string): string {
  const typed = text.toLowerCase().replace(/\.$/, "");
  return /[^\u0020-\u007e]/.test(typed) ? quickAscii(typed).toLowerCase() : typed;
}

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

/** Why a decision about a name is not possible; undefined if it is. */
function nameProblem(name: string): string | undefined {
  if (isListedSuffix(name)) return "is a whole public suffix";
  const isName = PLAIN_DOMAIN.test(name) && !/^[\d.]+$/.test(name);
  if (!isName || name.length > LONGEST_NAME || hasLongLabel(name)) return "is not a name";
  return isReservedName(name) ? "belongs to the canaries, which show builds" : undefined;
}

/** The name in a copied address; undefined without one. */
function hostIn(text: string): string | undefined {
  const host = /^(?:\w+:\/\/)?(?:[^/?#@]*@)?(?<host>[^/?#:@]+)[/?#:]/.exec(text)?.groups?.["host"];
  return host !== undefined && nameProblem(host) === undefined ? host : undefined;
}

function hasLongLabel(name: string): boolean {
  return name.split(".").some((label) => label.length > LONGEST_LABEL);
}

/** The line of a decision. */
export function decisionLine(decision: ReadDecision): string {
  const { verdict, name, exact, since, until, list, reference, reason } = decision;
  const words = [
    verdict,
    name,
    ...(exact ? ["exact"] : []),
    ...(since === undefined ? [] : ["since", since]),
    ...(until === undefined ? [] : ["until", until]),
    ...(list === undefined ? [] : ["in", list]),
    ...(reference === undefined ? [] : ["ref", reference]),
    ...(reason === undefined ? [] : ["#", reason]),
  ];
  return words.join(" ");
}

/** The rule that a decision becomes. */
export function decisionRule({ verdict, name, exact }: ReadDecision): string {
  return `${verdict === "allow" ? "@@" : ""}${exact ? "|" : "||"}${name}^`;
}

/** When a decision ends. A day is included. */
export function endOf({ until }: Pick<Decision, "until">): number {
  if (until === undefined) return Infinity;
  return Date.parse(until) + (until.length === "2026-12-31".length ? DAY_MS : 0);
}

/** What `until` means at a time: a date, or a duration from then on; undefined if it is neither or over. */
export function untilText(text: string, now: Date): string | undefined {
  const ms = durationMs(text);
  if (ms !== undefined) {
    const end = new Date(now.getTime() + ms).toISOString();
    return `${end.slice(0, 16)}Z`;
  }
  return isDay(text) && endOf({ until: text }) > now.getTime() ? text : undefined;
}

/**
 * The decisions that hold at a time, in a list with this name in `in`: of several about the same name, the last one in the file.
 */
export function activeDecisions(
  decisions: readonly Decision[],
  now: number,
  isList: (list: string) => boolean,
): Decision[] {
  const byName = new Map<string, Decision>();
  for (const one of decisions) {
    if (endOf(one) <= now || (one.list !== undefined && !isList(one.list))) continue;
    byName.set(`${one.exact ? "|" : "||"}${one.name}`, one);
  }
  return [...byName.values()].toSorted((one, other) => one.line - other.line);
}

/** A warning for each decision that is over, unless a later one is about the same name. */
export function expiredDecisions(decisions: readonly Decision[], now: number): Diagnostic[] {
  return decisions.flatMap((one, index) => {
    if (endOf(one) > now) return [];
    if (decisions.slice(index + 1).some(({ name }) => name === one.name)) return [];
    const { verdict, name, until, file, line } = one;
    const message = `The decision ${verdict} ${name} was made until ${until} and is over`;
    const at = { file, line, frame: decisionLine(one) };
    return [warningOf("decision-expired", message, { at, subject: name })];
  });
}

/** The decision that decides about a name: that for the name alone, then that for the longest parent. */
export function decisionFor<T extends Pick<Decision, "name" | "exact">>(
  name: string,
  decisions: readonly T[],
): T | undefined {
  let best: T | undefined;
  for (const one of decisions) {
    const isSelf = one.name === name;
    if (!isSelf && (one.exact || !name.endsWith(`.${one.name}`))) continue;
    if (isSelf && one.exact) return one;
    if (best === undefined || one.name.length > best.name.length) best = one;
  }
  return best;
}
