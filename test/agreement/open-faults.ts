/** Faults that are known and not yet repaired: an entry leaves with its repair. */
const OPEN: readonly { readonly part: string; readonly fault: RegExp }[] = [
  {
    part: "hosts lines with real addresses",
    fault: /^why says blocked where the list means rewritten/,
  },
  {
    part: "hosts lines with real addresses",
    fault: /makes rewritten blocked[^:]*: .* by (?:192\.|1\.2|2001:)/,
  },
  {
    part: "international plain names with a final dot",
    fault: /^a chain makes blocked neither \(international\): .* by [^|/@ ]+\. \(/,
  },
];

export function isOpen(wrong: string): boolean {
  return OPEN.some(({ fault }) => fault.test(wrong));
}
