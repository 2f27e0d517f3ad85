import { toAsciiHost } from "./idna.ts";

/** The start of the selector of a browser rule: `##`, `#@#`, `#$#`, `#%#`, `#?#` and similar, or `$$`. */
const COSMETIC_MARK = /#[@$%?]{0,3}#|\$@?\$/;
/** Characters that cannot be part of a host. `*`, `.` and letters of any script can. */
const NOT_HOST = /[\s^$|=:/#,;?&@()[\]{}<>"'`\\!%~+]/;
/** Full stops that IDNA maps to a dot. */
const DOTS = /[.。．｡]/;

/** The line with its international names in ASCII, or undefined if one of them has no ASCII form. */
export function asciiLine(line: string): string | undefined {
  const rule = line.trim().replace(/^@@/, "");
  if (line.startsWith("#") || /^\/.*\/(?:\$.*)?$/s.test(rule)) return line;
  const mark = COSMETIC_MARK.exec(line);
  if (mark === null) return convertHosts(line);
  const domains = convertHosts(line.slice(0, mark.index));
  return domains === undefined ? undefined : domains + line.slice(mark.index);
}

/** Converts runs of host characters, from left to right. Skips paths, which extend from a `/` to the next blank. */
function convertHosts(text: string): string | undefined {
  let out = "";
  let isPath = false;
  let at = 0;
  while (at < text.length) {
    let end = at;
    while (end < text.length && !NOT_HOST.test(text[end]!)) end++;
    if (end > at) {
      const run = text.slice(at, end);
      const converted = isPath ? run : convertRun(run, text, at, end);
      if (converted === undefined) return undefined;
      out += converted;
    }
    if (end < text.length) {
      const separator = text[end]!;
      if (separator === "/") isPath = !isSchemeSlash(text, end);
      else if (/[\s^$|]/.test(separator)) isPath = false;
      out += separator;
    }
    at = end + 1;
  }
  return out;
}

function isSchemeSlash(text: string, at: number): boolean {
  return text[at - 1] === ":" || (text[at - 1] === "/" && text[at - 2] === ":");
}

function convertRun(run: string, text: string, start: number, end: number): string | undefined {
  if (/^[\u0000-\u007f]*$/.test(run) || !isHost(run, text, start, end)) return run;
  const wildcard = run.startsWith("*.") ? "*." : "";
  const leadingDot = wildcard === "" && run.startsWith(".") ? "." : "";
  const ascii = toAsciiHost(run.slice(wildcard.length + leadingDot.length));
  return ascii === undefined ? undefined : wildcard + leadingDot + ascii;
}

/** A run with a dot inside is a name. A single label needs syntax that marks it as a host: `||рус^`, `.рус`. */
function isHost(run: string, text: string, start: number, end: number): boolean {
  if (DOTS.test(run.slice(1, -1))) return true;
  if (run.startsWith(".")) return start === 0 && run.length > 1;
  const isAnchored = text[start - 1] === "|" && text[start - 2] === "|";
  return isAnchored && (end === text.length || text[end] === "^");
}
