import { toASCII } from "tr46";

/** Code points that a host may not have after mapping (WHATWG URL, forbidden domain code points). */
const FORBIDDEN = /[\u0000-\u0020"#%/:<>?@[\\\]^`{|}\u007f]/;

/**
 * A name in its ASCII form (UTS 46, non-transitional), the same on every runtime; undefined when it has none. `*` may
 * stand in it, as it does in rules.
 */
export function toAsciiHost(name: string): string | undefined {
  const ascii = toASCII(name, {
    checkBidi: true,
    checkHyphens: false,
    checkJoiners: true,
    useSTD3ASCIIRules: false,
    transitionalProcessing: false,
    verifyDNSLength: false,
  });
  return ascii === null || ascii === "" || FORBIDDEN.test(ascii) ? undefined : ascii;
}
