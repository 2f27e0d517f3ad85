import type { toASCII } from "tr46";

/** Code points that a host may not have after mapping (WHATWG URL, forbidden domain code points). */
const FORBIDDEN = /[\u0000-\u0020"#%/:<>?@[\\\]^`{|}\u007f]/;

let convert: typeof toASCII | undefined;

/** Loads the tables of UTS 46: 15 ms and 10 MB that most lists can do without. Must be awaited before `toAsciiHost`. */
export async function loadIdna(): Promise<void> {
  convert ??= (await import("tr46")).toASCII;
}

/** A name in its ASCII form by the runtime's own parser: there at once, to judge by, but not the same on every runtime. */
export function quickAscii(name: string): string {
  // The parser would take `com\x` for the host `com` and a path.
  if (FORBIDDEN.test(name)) return name;
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name;
}

/**
 * A pattern with the ASCII form of its labels. A wildcard beside letters of another script has no ASCII form, and the
 * label stays as it is.
 */
export function asciiLabels(pattern: string): string {
  if (!/[^\u0000-\u007f]/.test(pattern)) return pattern;
  return pattern.replace(/[^\s.|^*/$~]+\*?/gu, (label, at: number) =>
    !/[^\u0000-\u007f]/.test(label) || label.endsWith("*") || pattern[at - 1] === "*"
      ? label
      : quickAscii(label),
  );
}

/**
 * A name in its ASCII form (UTS 46, non-transitional), the same on every runtime; undefined when it has none. `*` may
 * stand in it, as it does in rules.
 */
export function toAsciiHost(name: string): string | undefined {
  if (convert === undefined) throw new Error("loadIdna() was not awaited");
  const ascii = convert(name, {
    checkBidi: true,
    checkHyphens: false,
    checkJoiners: true,
    useSTD3ASCIIRules: false,
    transitionalProcessing: false,
    verifyDNSLength: false,
  });
  return ascii === null || ascii === "" || FORBIDDEN.test(ascii) ? undefined : ascii;
}
