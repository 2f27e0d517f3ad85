import { asciiLabels } from "../syntax/idna.ts";

/** The names in single lines of a list. The compiler itself reads lines as bytes, in `syntax/`. */

const HOSTS_LINE = /^[0-9a-f.:]*[.:][0-9a-f.:]*[ \t]+(?<names>[^#]+)/i;

/** The names of a hosts line, in lower case; undefined for any other line. */
function hostsNames(line: string): string[] | undefined {
  const names = HOSTS_LINE.exec(line)?.groups?.["names"];
  return names?.trim().toLowerCase().split(/\s+/).map(withoutDot);
}

/** The name of a line that contains only a name; undefined for any other line. */
export function nameIn(line: string): { name: string; isSubtree: boolean } | undefined {
  if (line.startsWith("!") || line.startsWith("#")) return undefined;
  if (line.startsWith("||") && line.endsWith("^")) {
    const name = line.slice(2, -1);
    return /[/*^$|]/.test(name) ? undefined : { name, isSubtree: true };
  }
  // A name with a final dot is a special line; `namesIn` normalizes it.
  if (/[|^$*/A-Z]|\.(?:\s|$)/.test(line)) return undefined;
  if (/^[a-z0-9_][a-z0-9_.-]*$/.test(line)) return { name: line, isSubtree: false };
  const [name, ...more] = hostsNames(line) ?? [];
  return name === undefined || more.length > 0 ? undefined : { name, isSubtree: false };
}

/** The normalized names of a hosts line, or of a line with a single name; undefined for a rule. */
export function namesIn(text: string): string[] | undefined {
  const names = hostsNames(text) ?? plainName(text);
  return names?.map(asciiLabels);
}

/** `name`, or `name # note`. */
function plainName(text: string): string[] | undefined {
  const name = /^(?<name>[^\s.|^*/@$#!-][^\s|^*/@$#!]*\.[^\s|^*/@$#!]*)(?:\s+#.*)?$/.exec(text)
    ?.groups?.["name"];
  return name === undefined ? undefined : [withoutDot(name.toLowerCase())];
}

/** The names in a line of a source: those after an address, or the one at the start of a rule. */
export function hostsIn(text: string): string[] {
  const line = text.trim().toLowerCase();
  const names = hostsNames(line);
  if (names !== undefined) return names;
  const host = /^(?:@@)?\|{0,2}(?:\w+:\/\/)?(?:\*\.)?(?<host>[^\s|^*/@$#!,:?]+)/.exec(line)
    ?.groups?.["host"];
  return host === undefined ? [] : [withoutDot(host)];
}

function withoutDot(name: string): string {
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
