/** What a resolver says of a blocked name. */
export type Answer = "nxdomain" | "null" | "nodata" | "refused";

/** What an output of the configuration says about its format; what is not said is the format's own. */
export interface FormatOptions {
  readonly answer: Answer;
  /** Whether a format with addresses writes those of IPv6 too. */
  readonly ipv6: boolean;
  readonly ttl: number;
  /** Name of the zone, for zone files. */
  readonly origin: string;
  /** In the SOA of a zone. */
  readonly mailbox: string;
}

/** What holds where a configuration says nothing. */
export const DEFAULT_OPTIONS: FormatOptions = {
  answer: "nxdomain",
  ipv6: false,
  ttl: 60,
  origin: "rpz.local",
  mailbox: "hostmaster.localhost.",
};

/**
 * How a format says each thing, in lines with `%` for the name; what it has no lines for it cannot say. `subtree` is a name
 * with all names below it, `exact` the name alone, `below` all below it without itself.
 */
export interface Lines extends ScopeLines {
  /** A rule that is a regular expression, with `%` for its source; and an exception that is one. */
  readonly regex?: readonly string[];
  readonly allowRegex?: readonly string[];
  /** Any rule as it is, with `%` for its text as JSON. */
  readonly rule?: readonly string[];
  /** Names that rules decide which are not for names; what has no such lines says that they are allowed. */
  readonly openSubtree?: readonly string[];
  readonly openExact?: readonly string[];
  readonly openBelow?: readonly string[];
  /** The lines of important rules, where the format tells them from others. */
  readonly important?: ScopeLines;
}

/** Lines for what a rule is about. */
export interface ScopeLines {
  readonly subtree?: readonly string[];
  readonly exact?: readonly string[];
  readonly below?: readonly string[];
  readonly allowSubtree?: readonly string[];
  readonly allowExact?: readonly string[];
  readonly allowBelow?: readonly string[];
}

/** Facts that stand in the header of a file. */
export interface FileHeaderFacts {
  /** The lines that every list begins with, without their comment signs. */
  readonly lines: readonly string[];
  /** Larger than that of any earlier edition with other rules. */
  readonly serial: number;
}

/** A way to write names down for a resolver. One file each; `registry.ts` has them all. */
export interface NameFormat {
  /** One line, for the reference page. */
  readonly summary: string;
  readonly usedBy: string;
  readonly extension: string;
  /** What the resolver can be told to answer; the first is the default, none where that is its own business. */
  readonly answers: readonly Answer[];
  lines(options: FormatOptions): Lines;
  header(facts: FileHeaderFacts, options: FormatOptions): readonly string[];
  readonly footer?: readonly string[];
  /** Every rule can be written as it is. */
  readonly isLossless?: true;
  /** Exceptions go into a file of their own. */
  readonly hasAllowFile?: true;
  /** An exception wins over everything below it, so nothing there can be blocked again. */
  readonly allowWins?: true;
  /**
   * A name that is written hides what the wildcard of a parent says of the names below it and of those in between: both
   * must be said again (the closest encloser of RFC 4592).
   */
  readonly hidesParents?: true;
  /** Below an exception no name alone can be blocked. */
  readonly isExactApart?: true;
  /** Every line but the first of a file is parted from the one before by a comma at its start. */
  readonly isCommaFirst?: true;
  /** Characters of a name at the most. */
  longestName(options: FormatOptions): number;
  /** What one name takes in the memory of the software. */
  readonly memoryPerName: number;
  /** Whether that was measured, with 200,000 names. */
  readonly isMeasured?: true;
}

export const LONGEST_NAME = 253;

/** A header of comments. */
export function commentHeader(sign: string): (facts: FileHeaderFacts) => string[] {
  return ({ lines }) => lines.map((line) => (line === "" ? sign : `${sign} ${line}`));
}
