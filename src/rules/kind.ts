/** What a line is. One byte a row. Only `syntax/` decides it. */
export const Kind = {
  /** Empty, or nothing but blanks */
  Blank: 0,
  Comment: 1,
  /** `0.0.0.0 name…`: a real address, then names; the host slice is the first name */
  Hosts: 2,
  /** `ads.example.org` and nothing else */
  Domain: 3,
  /** `||ads.example.org^` without modifiers */
  Block: 4,
  /** Any other text; where it reads `||host^…` or `@@||host^…` the host slice is set */
  Rule: 5,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** What else is known of a row. Two bytes a row. */
export const Flag = {
  /** Both slices point into `chunk.rewritten`, not `chunk.bytes` */
  Rewritten: 1,
  /** The text is `||host^`, whatever the text slice says: Compress turns a hosts line into this without copying it */
  AsBlock: 2,
  NonAscii: 4,
  /** The host has an upper-case letter */
  UpperHost: 8,
  /** A hosts line with more than one name */
  SeveralNames: 16,
  /** The host is made of 1–63 character labels of letters, digits and inner hyphens, and has a dot */
  PlainHost: 32,
  /** Begins with `@@` */
  Allow: 64,
  /** Written by us above a source's lines: `! Source: …` */
  Banner: 128,
  /** Not a line of the input (banners, the final empty line): counted nowhere */
  Generated: 256,
  /** One more name of the hosts line above: the same input line */
  Continued: 512,
  /** The address of the hosts line is not one of the usual sinkholes */
  RealAddress: 1024,
  /** A plain host of three labels or more: a parent domain of it may be blocked as well */
  DeepHost: 4096,
  /**
   * A line that is nothing but a name, and the name is like nearly all: plain, in lower case, no address, no local name
   * and surely no public suffix. Whatever judges rules can leave these alone.
   */
  Ordinary: 8192,
  /** Lost a modifier, and so says more than its author did */
  Widened: 2048,
  /** The source may say what the text says now; a new text has to be judged again */
  Judged: 16_384,
  /** A rule that a file of another format has in adblock syntax; until the nesting of the others is known */
  OwnWord: 32_768,
} as const;
export type Flag = (typeof Flag)[keyof typeof Flag];
