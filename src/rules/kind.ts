/** What a line is. One byte per row. Only `syntax/` sets it. */
export const Kind = {
  /** Empty, or only blanks */
  Blank: 0,
  Comment: 1,
  /** `0.0.0.0 name…`: a valid IP address, then names; the host slice is the first name */
  Hosts: 2,
  /** `ads.example.org` and nothing else */
  Domain: 3,
  /** `||ads.example.org^` without modifiers */
  Block: 4,
  /** Any other text; for `||host^…` and `@@||host^…` the host slice is set */
  Rule: 5,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** More facts about a row. Two bytes per row. */
export const Flag = {
  /** Both slices point into `chunk.rewritten`, not `chunk.bytes` */
  Rewritten: 1,
  /** The row means `||host^`, whatever its text slice is: Compress converts hosts lines without copying */
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
  /** A generated line above a source's lines: `! Source: …` */
  Banner: 128,
  /** Not an input line (banners, the final empty line): not counted */
  Generated: 256,
  /** Another name of the hosts line above: the same input line */
  Continued: 512,
  /** The address of the hosts line is not a usual sinkhole */
  RealAddress: 1024,
  /** A plain host of three labels or more: a rule may block one of its parent domains */
  DeepHost: 4096,
  /**
   * The line consists of one common name: plain, lower case, not an address, not a local name and certainly not a public
   * suffix. Code that judges rules can skip it.
   */
  Ordinary: 8192,
  /** Lost a modifier, so it now blocks more than its author wrote */
  Widened: 2048,
  /** The source is allowed to contain this text; a new text must be judged again */
  Judged: 16_384,
  /** A rule in adblock syntax inside a file of another format; set until the nesting of the others is known */
  OwnWord: 32_768,
} as const;
export type Flag = (typeof Flag)[keyof typeof Flag];
