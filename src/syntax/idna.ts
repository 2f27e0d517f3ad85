import type { toASCII } from "tr46";

/** Code points that a host must not contain after mapping (WHATWG URL, forbidden domain code points). */
const FORBIDDEN = /[\u0000-\u0020"#%/:<>?@[\\\]^`{|}\u007f]/;

let convert: typeof toASCII | undefined;

/** Loads the tables of UTS 46 (15 ms and 10 MB), which most lists do not need. Must be awaited before `toAsciiHost`. */
export async function loadIdna(): Promise<void> {
  convert ??= (await import("tr46")).toASCII;
}

/** The ASCII form of a name by the runtime's URL parser. Only for checks: it needs no loading, but runtimes differ. */
export function quickAscii(name: string): string {
  // The parser would read `com\x` as the host `com` and a path.
  if (FORBIDDEN.test(name)) return name;
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name;
}

/**
 * Converts the labels of a pattern to ASCII. A label that mixes a wildcard with letters of another script has no ASCII
 * form and stays unchanged.
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
 * The ASCII form of a name (UTS 46, non-transitional), the same on every runtime; undefined if it has none. The name may
 * contain `*`, as in rules.
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
