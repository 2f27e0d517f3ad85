/** How a resolver answers for a blocked name. */
export type Answer = "nxdomain" | "null" | "nodata" | "refused";

/** The settings of an output for its format. */
export interface FormatOptions {
  readonly answer: Answer;
  /** Whether a format with addresses writes those of IPv6, too. */
  readonly hasBothAddresses: boolean;
  readonly ttl: number;
  /** The name of the zone, for zone files. */
  readonly origin: string;
}

/** The defaults for settings that the configuration leaves out. */
export const DEFAULT_OPTIONS: FormatOptions = {
  answer: "nxdomain",
  hasBothAddresses: false,
  ttl: 60,
  origin: "rpz.local",
};

/**
 * The lines with which a format expresses each scope, with `%` for the name; without lines it cannot express it. `subtree` is a name
 * with all names below it, `exact` the name alone, `below` all names below it without the name.
 */
export interface FormatLines extends ScopeLines {
  /** A block and an exception by regular expression, with `%` for the expression. */
  readonly regex?: readonly string[];
  readonly allowRegex?: readonly string[];
  /** Any rule, with `%` for its text as JSON. */
  readonly rule?: readonly string[];
  /** Names that are left to the rules without names; a format without these lines allows them instead. */
  readonly openSubtree?: readonly string[];
  readonly openExact?: readonly string[];
  readonly openBelow?: readonly string[];
  /** The lines of important rules, if the format distinguishes them. */
  readonly important?: ScopeLines;
}

/** Lines by scope and action. */
export interface ScopeLines {
  readonly subtree?: readonly string[];
  readonly exact?: readonly string[];
  readonly below?: readonly string[];
  readonly allowSubtree?: readonly string[];
  readonly allowExact?: readonly string[];
  readonly allowBelow?: readonly string[];
}

/** The contents of the header of a file. */
export interface FileHeaderFacts {
  /** The header lines of the list, without comment signs. */
  readonly lines: readonly string[];
  /** Larger than the serial of any earlier version with other rules. */
  readonly serial: number;
}

/** An output format. One file each; `registry.ts` lists them all. */
export interface NameFormat {
  /** One line, for the reference page. */
  readonly summary: string;
  readonly usedBy: string;
  readonly extension: string;
  /** The answers that a file can select; the first is the default. Without it, the resolver decides. */
  readonly answers?: readonly Answer[];
  lines(options: FormatOptions): FormatLines;
  header(facts: FileHeaderFacts, options: FormatOptions): readonly string[];
  /** Opens a section at the end of the file for names without their subdomains, in formats that keep them apart. */
  readonly exactOpening?: string;
  readonly footer?: readonly string[];
  /** The format can express every rule. */
  readonly isLossless?: true;
  /** Exceptions go into a separate file. */
  readonly hasAllowFile?: true;
  /** An exception wins over everything below it, so nothing there can be blocked again. */
  readonly allowWins?: true;
  /**
   * A name hides the wildcard of its parent, for the names below it and for those in between. Both must be repeated (the
   * closest encloser of RFC 4592).
   */
  readonly hidesParents?: true;
  /** What applies to the names below a name applies to the name too, unless it has its own line. */
  readonly belowHidesSelf?: true;
  /** Written as a constant database, whose records the lines represent. */
  readonly isDatabase?: true;
  /** Below an exception, a single name cannot be blocked. */
  readonly allowHidesExact?: true;
  /** Every line except the first of a file begins with a comma. */
  readonly isCommaFirst?: true;
  /** Maximum length of a name in characters; `LONGEST_NAME` by default. */
  longestName?(options: FormatOptions): number;
  /** Memory that the resolver needs per name, in bytes. */
  readonly memoryPerName: number;
  /** Whether the memory was measured, with 200,000 names. */
  readonly isMeasured?: true;
}

export const LONGEST_NAME = 253;

/** A header of comment lines. */
export function commentHeader(sign: string): (facts: FileHeaderFacts) => string[] {
  return ({ lines }) => lines.map((line) => (line === "" ? sign : `${sign} ${line}`));
}
