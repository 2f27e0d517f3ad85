import type { Judge } from "../reference/judges.ts";

/** How an engine differs from the documents on DNS filtering syntax, or from the other engine. The table is closed. */
interface Quirk {
  readonly id: string;
  readonly engine: Judge["engine"] | "both";
  readonly what: string;
  /** Which lines of a list the engine reads differently. A difference is excused if it vanishes with them. */
  readonly line?: (line: string, list: readonly string[]) => boolean;
  /** Which names the engine does not answer for. */
  readonly name?: (name: string) => boolean;
  /** Our normal form avoids it: no published line differs. */
  readonly isOnlyAsWritten?: boolean;
}

/** A label that begins or ends with an underscore or a hyphen. */
const EDGE = /(?:^|\.)[_-]|[_-](?:\.|$)/;

/** A line without its note. */
function nameIn(line: string): string {
  return line
    .replace(/\s#.*$/, "")
    .trim()
    .replace(/\.$/, "")
    .toLowerCase();
}

function isPlainName(line: string): boolean {
  return /^[\w-]+(?:\.[\w-]+)+$/.test(nameIn(line));
}

function isBadfilter(line: string): boolean {
  return line.includes("badfilter");
}

const QUIRKS: readonly Quirk[] = [
  {
    id: "Q01",
    engine: "tsurlfilter",
    what: "no rule matches a name with a label that begins or ends with _ or -",
    name: (name) => EDGE.test(name),
  },
  {
    id: "Q02",
    engine: "tsurlfilter",
    what: "$dnsrewrite is unknown: a rewrite is a block, its exception an exception",
    line: (line) => line.includes("$dnsrewrite"),
  },
  {
    id: "Q03",
    engine: "tsurlfilter",
    what: "an expression is asked about an address with a slash at its end, so $ never matches",
    line: (line) => /\$\/(?:\$|$)/.test(line),
  },
  {
    id: "Q04",
    engine: "tsurlfilter",
    what: "expressions are JavaScript's, so (?!…) is valid",
    line: (line) => line.includes("(?!"),
  },
  {
    id: "Q05",
    engine: "tsurlfilter",
    what: "a | at the end of a pattern is behind that slash, so it never matches",
    line: (line) => /\|(?:\$|$)/.test(line),
  },
  {
    id: "Q06",
    engine: "tsurlfilter",
    what: "a plain name is a pattern that matches names which contain it, and a note behind it is part of it",
    line: isPlainName,
  },
  {
    id: "Q08",
    engine: "AdGuard Home",
    what: "a rule with an underscore, or a hyphen at the edge of a label, in $denyallow is invalid",
    line: (line) => /denyallow=[^,]*(?:_|(?<![\w-])-|-(?![\w-]))/.test(line),
  },
  {
    id: "Q09",
    engine: "AdGuard Home",
    what: "of several $badfilter rules that match a name, one cancels",
    line: (line, list) => isBadfilter(line) && list.filter(isBadfilter).length > 1,
  },
  {
    id: "Q10",
    engine: "AdGuard Home",
    what: "$denyallow takes a name with a wildcard at its end",
    line: (line) => /denyallow=[^,]*\.\*/.test(line),
  },
  {
    id: "Q11",
    engine: "AdGuard Home",
    what: "$badfilter does not cancel a rewrite, and is one itself",
    line: (line) => /dnsrewrite.*badfilter|badfilter.*dnsrewrite/.test(line),
  },
  {
    id: "Q07",
    engine: "AdGuard Home",
    what: "an exception with $dnsrewrite cancels important rewrites, and one with a value other rewrites, too",
    line: (line) => /^@@.*dnsrewrite/.test(line.trim()),
  },
  {
    id: "Q12",
    engine: "both",
    what: "content types after ~ do not count, though rules with modifiers of browsers are to be ignored",
    line: (line) => /\$~[a-z]+(?:,~[a-z]+)*$/.test(line),
  },
  {
    id: "Q13",
    engine: "tsurlfilter",
    what: "a slash at the start or the end of a pattern is part of the address that it is asked about",
    line: (line) => /^(?:@@)?\/|\/(?:\$|$)/.test(line),
  },
  {
    id: "Q14",
    engine: "tsurlfilter",
    what: "$app and $document are known, though they are not for DNS",
    line: (line) => /\$(?:app=|document\b)/.test(line),
  },
  {
    id: "Q15",
    engine: "both",
    what: "names in upper case or in letters other than ASCII match nothing",
    line: (line) => /^(?!(?:@@)?\/).*(?:[A-Z]|[^\u0009-\u007e])/.test(line),
    isOnlyAsWritten: true,
  },
  {
    id: "Q16",
    engine: "AdGuard Home",
    what: "a plain name with an underscore, or a hyphen at the edge of a label, is a pattern",
    line: (line) => isPlainName(line) && (line.includes("_") || EDGE.test(nameIn(line))),
    isOnlyAsWritten: true,
  },
];

/** Whether an engine reads the lines of a source, or those that we publish. */
export type Form = "as written" | "as published";

const counts = new Map<string, number>();

function count(id: string, times: number): void {
  counts.set(id, (counts.get(id) ?? 0) + times);
}

function quirksOf(judge: Judge, form: Form): Quirk[] {
  return QUIRKS.filter(
    ({ engine, isOnlyAsWritten = false }) =>
      (engine === "both" || engine === judge.engine) && (!isOnlyAsWritten || form === "as written"),
  );
}

/** The differences that no quirk explains. `compare` asks again, with fewer lines. */
export function unexplained<D extends { readonly name: string }>(
  judge: Judge,
  lines: readonly string[],
  compare: (lines: readonly string[], differing: readonly D[] | undefined) => readonly D[],
): readonly D[] {
  let left = compare(lines, undefined);
  let rest = lines;
  for (const { id, line, name } of quirksOf(judge, "as published")) {
    if (left.length === 0) break;
    const before = left.length;
    if (name !== undefined) left = left.filter((one) => !name(one.name));
    const kept = line === undefined ? rest : rest.filter((one) => !line(one, rest));
    if (kept.length < rest.length) left = compare((rest = kept), left);
    count(id, before - left.length);
  }
  return left;
}

/** Whether an engine may differ about a name for a list of one line. */
export function isQuirk(judge: Judge, form: Form, line: string, name: string): boolean {
  const quirk = quirksOf(judge, form).find(
    (one) => one.name?.(name) === true || one.line?.(line, [line]) === true,
  );
  if (quirk !== undefined) count(quirk.id, 1);
  return quirk !== undefined;
}

/** How often each explained a difference. */
export function quirkCounts(): string[] {
  return QUIRKS.map(
    ({ id, engine, what }) =>
      `${String(counts.get(id) ?? 0).padStart(7)} ${id} (${engine}): ${what}`,
  );
}
