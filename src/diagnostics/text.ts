export function numberText(value: number): string {
  // Not `toLocaleString`: its first call loads the locale data, 20 ms.
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 rule`, `2 rules`. */
export function countText(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${numberText(count)} ${count === 1 ? noun : plural}`;
}

export const DAY_MS = 86_400_000;

/** A timestamp as people read it, to the minute. */
export function timestampText(timestamp: number | string): string {
  return `${new Date(timestamp).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** The same names, with a number behind those that were there before: figures and states are kept by name. */
export function distinctNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

/** A text as one word of a shell command, quoted only if needed. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** As many names as a person reads in one message. */
export const MOST_NAMED = 5;

/** `a, b, c, d, e and 4 more`. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => printable(name, 80));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** Text from a list, a server or a file name, made safe to print: no control, escape or direction-changing character survives. */
export function printable(text: string, limit = 200): string {
  const safe = isPlain(text)
    ? text
    : text.replace(
        /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
      );
  return safe.length > limit ? `${safe.slice(0, limit)}…` : safe;
}

/** Nearly all text is, and looking is quicker than replacing nothing. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126) return false;
  }
  return true;
}

/**
 * The same text with every password and query of a URL in it starred out, with `isSecret` every path, too; columns stay
 * where they were.
 */
export function maskCredentials(text: string, isSecret = false): string {
  const rest = isSecret
    ? /([/\\]{2,}[^/?#\s"']*[/?#])([^\s"']+)/g
    : /([/\\]{2,}[^?#\s"']*[?#])([^\s"']+)/g;
  return text
    .replace(/([/\\]{2,})([^/?#\s"']+|[^\s"'@]*:[^\s"'@]*)(?=@)/g, starred)
    .replace(rest, starred);
}

function starred(_: string, start: string, secret: string): string {
  return `${start}${"*".repeat(secret.length)}`;
}

/**
 * A URL without what may be secret in it: user name, password, query and fragment; with `isSecret` the path, too. What
 * is not a URL stays as it is.
 */
export function withoutCredentials(address: string, isSecret = false): string {
  const start = /^\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}/i.exec(address)?.[0];
  if (start === undefined) return address;
  const open = start.trim() + withoutUser(address, start.length);
  const end = isSecret ? /(?<=[^/\\:])[/\\?#]/.exec(open) : /[?#]/.exec(open);
  return end === null ? open : `${open.slice(0, end.index + 1)}…`;
}

/** The part of a URL after `//`, without user name and password. */
function withoutUser(address: string, start: number): string {
  const text = address.trim();
  const rest = address.slice(start);
  const whole = /^[a-z]/i.test(text) ? text : `http:${text}`;
  // What no parser reads may still hold a password, with slashes in it.
  if (!URL.canParse(whole)) return rest.replace(/^.*@/s, "");
  const { username, password } = new URL(whole);
  // They end at the last @ before the path; a password may hold anything else.
  return username === "" && password === "" ? rest : rest.replace(/^[^/?#]*@/, "");
}

/** Failures of connections, which the system names only by a call and a code. */
const PLAIN: Readonly<Record<string, string>> = {
  EAI_AGAIN: "the name server did not answer",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ENOTFOUND: "the name has no address",
  EPIPE: "the connection was closed",
};

/** The system's words for a refusal, without the code twice and without the call it came from. */
export function reasonOf(code: string, message: string): string {
  // Such as "connect ECONNREFUSED 192.0.2.1:443" and "read ECONNRESET".
  if (code === "EPROTO" && message.includes("wrong version number"))
    return "EPROTO: the server does not answer in TLS";
  const [, named, where] = /^\w+ ([A-Z][A-Z0-9_]+)(?: (\S+))?$/.exec(message) ?? [];
  const plain = named === code ? PLAIN[code] : undefined;
  if (plain !== undefined)
    return printable(`${code}: ${plain}${where === undefined ? "" : ` (${where})`}`);
  const words = message.replace(/^(?:[a-z]+ )?[A-Z][A-Z0-9_]+: /, "").replace(/, \w+ '.*'$/s, "");
  return printable(`${code}: ${words}`);
}

/** The candidate that a person most likely meant, or undefined when none is near. Case counts little. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance =
      candidate.toLowerCase() === word.toLowerCase()
        ? 0
        : editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** A host and a path, as a URL without its scheme has. */
const LIKE_URL =
  /^(?:www\.[^/]+|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}|(?<local>localhost|\d+(?:\.\d+){3}))(?::\d+)?\//i;

/** A host alone, such as `small.oisd.nl`: lists rarely have names with two dots and such an end. */
const LIKE_HOST =
  /^(?:[\w-]+\.){2,}(?!(?:txt|list|hosts|conf|csv|json|jsonc|ya?ml|gz|zst|zip|rpz|zone|old|bak)$)[a-z]{2,}$/i;

/** The hint for a path that may be a URL without its scheme. */
export function webHint(path: string): { readonly hint?: string } {
  const found = LIKE_URL.exec(path) ?? LIKE_HOST.exec(path);
  if (found === null) return {};
  const scheme = found.groups?.["local"] === undefined ? "https" : "http";
  return { hint: `If it is on the web, write ${scheme}://${printable(path)}` };
}

/** Levenshtein distance with swaps of neighbours (Damerau's optimal string alignment), on short words. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8 || a.length > 64) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let distance = Math.min(last[j]! + 1, current[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        distance = Math.min(distance, beforeLast[j - 2]! + 1);
      current[j] = distance;
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

/** The options of a run that another command must repeat to find the same list. */
export interface ListPlace {
  readonly configPath: string;
  readonly isFound?: boolean;
  readonly output?: string | undefined;
}

/** A command about a list, to paste; of several lists, it names the one. */
export function listCommandLine(
  command: string,
  list: string | undefined,
  { configPath = "", isFound = false, output }: Partial<ListPlace> = {},
): string {
  const flags = [
    ["-c", isFound ? "" : configPath],
    ["-o", output ?? ""],
    ["--filter", list ?? ""],
  ] as const;
  const named = flags.filter(([, value]) => value !== "");
  const words = named.flatMap(([flag, value]) => [flag, shellWord(printable(value, 4096))]);
  return [`rules-compiler ${command}`, ...words].join(" ");
}

/** A quoted field of CSV. Characters that could control a terminal are written as `\u{1b}`; tabs stay. */
export function csvField(text: string): string {
  const safe = text
    .split("\t")
    .map((part) => printable(part, Infinity))
    .join("\t");
  return `"${safe.replaceAll('"', '""')}"`;
}

/** Seconds. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90s`, `30m`, `12h` and `7d`, or the form of list headers: `12 hours`, `1 day`. */
export const DURATION = "^(\\d{1,6}(?:\\.\\d{1,3})?)(?:([smhd])| (second|minute|hour|day)s?)$";

/** Milliseconds of a duration; undefined if the text is invalid. */
export function durationMs(text: string): number | undefined {
  const [, count, letter, word] = new RegExp(DURATION).exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS[letter ?? word![0]!]! * 1000;
}

/** Bytes of `256M`, `2G`, `500k` or a plain number; undefined if the text is invalid. */
export function sizeBytes(text: string): number | undefined {
  const { digits, unit } = /^(?<digits>\d{1,12})(?<unit>[kmg]?)(?:i?b)?$/i.exec(text)?.groups ?? {};
  if (digits === undefined || Number(digits) === 0) return undefined;
  return Number(digits) * 1024 ** " kmg".indexOf((unit || " ").toLowerCase());
}
