/** How much a fate matters to a reader, most important first. `no-rule` lines never contained a rule. */
export const RANKS = ["alarm", "loss", "redundant", "no-rule", "kept"] as const;
export type Rank = (typeof RANKS)[number];

/**
 * What became of a row: `kept` in the list, or why it was dropped. One byte per row. Nothing else removes a row, so counting this
 * column gives the report. Each has a rank and a meaning; `explain/glossary.ts` has the rest. Add new fates at the end: build records
 * contain the numbers.
 */
export const FATES = [
  ["kept", "kept", "line that is in the published list"],
  ["spare", "no-rule", "unused slot for another name of a hosts line"],
  ["blank", "no-rule", "blank line of the file"],
  ["directive", "no-rule", "executed directive"],
  ["condition", "loss", "inside an !#if whose condition is false"],
  ["diff-path", "no-rule", "update URL of an included file"],
  ["excluded", "loss", "matched an exclusion"],
  ["not-included", "loss", "matched no inclusion"],
  ["comment", "no-rule", "comment"],
  ["comment-above", "no-rule", "comment or empty line above a dropped rule"],
  ["empty", "no-rule", "empty line"],
  ["duplicate", "redundant", "same text as another line"],
  ["same-host", "redundant", "another line blocks the same name"],
  ["covered", "redundant", "another line blocks a parent domain"],
  ["local-name", "redundant", "well-known local name of a hosts file"],
  ["no-name", "loss", "address without a name"],
  ["nothing-left", "loss", "empty after its modifiers were removed"],
  ["bad-syntax", "loss", "not a valid rule"],
  ["bad-host", "loss", "not a host name"],
  ["bad-modifier", "loss", "has a modifier that DNS filtering does not support"],
  ["bad-regex", "loss", "regular expression that does not compile"],
  ["too-short", "loss", "too short to be a rule"],
  ["too-wide", "alarm", "would match too many names, alone or with other patterns of its source"],
  ["public-suffix", "alarm", "would block a whole public suffix"],
  ["ip-address", "loss", "is an IP address; this validator accepts only names"],
  ["control-bytes", "alarm", "contains control characters, line separators or bidirectional marks"],
  ["too-long", "loss", "longer than 4 KiB, which no resolver accepts"],
  [
    "real-address",
    "alarm",
    "maps a name to a real address, which the trust of the source does not permit",
  ],
  [
    "rewrites",
    "alarm",
    "changes responses ($dnsrewrite), which the trust of the source does not permit",
  ],
  [
    "cancels",
    "alarm",
    "disables rules of other sources ($badfilter), which the trust of the source does not permit",
  ],
  ["cancelled", "redundant", "disabled by a $badfilter rule of the same source"],
  [
    "not-block-only",
    "loss",
    "an exception, a rule for some clients or an important rule, from a source that may only block",
  ],
  [
    "slow-regex",
    "loss",
    "expression that RE2 does not support, or that takes too long to check, from a source that is not fully trusted",
  ],
  ["allowed", "loss", "its name is on the allowlist"],
  ["own", "loss", "dropped by a plugin"],
  [
    "metadata",
    "no-rule",
    "a directive or information about the source's list, which would mislead subscribers",
  ],
  [
    "protected",
    "alarm",
    "blocks a name that devices need, from a source that is not fully trusted",
  ],
  ["cut-line", "loss", "last line of a response that may be truncated"],
  ["joined", "no-rule", "part of a rule that spans several lines"],
  ["setting", "no-rule", "setting or record that neither blocks nor allows a name"],
  ["trigger", "loss", "policy for IP addresses or name servers, not for names"],
  ["not-followed", "loss", "includes another file, which is not read"],
  ["too-nested", "loss", "block inside more exceptions than adblock syntax can express"],
  [
    "over-budget",
    "alarm",
    "new exception; together, they would unblock too many names that only other sources block",
  ],
  ["no-value", "no-rule", "row of a feed without a name or URL"],
  ["not-chosen", "loss", "row of a feed that `where` or the type of the feed leaves out"],
  ["url-path", "loss", "URL with a path, which says nothing about the rest of its host"],
  ["shared-host", "loss", "URL with a path on a host that many people share"],
  ["few-sources", "loss", "fewer sources have it than `min_sources` requires"],
  ["too-old", "loss", "first seen longer ago than `max_age` permits"],
  ["not-ranked", "loss", "matches no popular name up to the rank in `fit.top`"],
  ["newly-blocks", "alarm", "would block a popular name that the published list does not block"],
  [
    "household",
    "alarm",
    "would block a name that people need, from a source that is not fully trusted",
  ],
  ["reserved", "alarm", "matches the canary, which shows the build that a resolver answers from"],
  ["overruled", "loss", "exception for a name that a source of higher trust blocks"],
  [
    "breaks-traffic",
    "loss",
    "would newly block too many queries of a log, with other lines of its source",
  ],
  ["decided", "redundant", "the decision of the user about its name replaces it"],
  ["unneeded", "redundant", "decision that holds without a line in the list"],
  ["inactive", "no-rule", "decision that is over, replaced by a later one, or for another list"],
  ["dead", "loss", "its name does not exist, and has not for weeks"],
] as const;

/** What became of a line: `kept` in the list, or why it was dropped. */
export type FateName = (typeof FATES)[number][0];

/** The same by name; `fate.test.ts` keeps the two in sync. Literals, so that V8 folds them in the loops. */
export const Fate = {
  Kept: 0,
  Spare: 1,
  Blank: 2,
  Directive: 3,
  Condition: 4,
  DiffPath: 5,
  Excluded: 6,
  NotIncluded: 7,
  Comment: 8,
  CommentAbove: 9,
  Empty: 10,
  Duplicate: 11,
  SameHost: 12,
  Covered: 13,
  LocalName: 14,
  NoName: 15,
  NothingLeft: 16,
  BadSyntax: 17,
  BadHost: 18,
  BadModifier: 19,
  BadRegex: 20,
  TooShort: 21,
  TooWide: 22,
  PublicSuffix: 23,
  IpAddress: 24,
  ControlBytes: 25,
  TooLong: 26,
  RealAddress: 27,
  Rewrites: 28,
  Cancels: 29,
  Cancelled: 30,
  NotBlockOnly: 31,
  SlowRegex: 32,
  Allowed: 33,
  Own: 34,
  Metadata: 35,
  Protected: 36,
  CutLine: 37,
  Joined: 38,
  Setting: 39,
  Trigger: 40,
  NotFollowed: 41,
  TooNested: 42,
  OverBudget: 43,
  NoValue: 44,
  NotChosen: 45,
  UrlPath: 46,
  SharedHost: 47,
  FewSources: 48,
  TooOld: 49,
  NotRanked: 50,
  NewlyBlocks: 51,
  Household: 52,
  Reserved: 53,
  Overruled: 54,
  BreaksTraffic: 55,
  Decided: 56,
  Unneeded: 57,
  Inactive: 58,
  Dead: 59,
} as const;
export type Fate = (typeof Fate)[keyof typeof Fate];

export function fateName(fate: number): FateName {
  return FATES[fate]![0];
}

/** Whether `by` holds the row that made this one redundant. */
export function hasCause(fate: number): boolean {
  return fate === Fate.Duplicate || fate === Fate.SameHost || fate === Fate.Covered;
}

/** Whether the row never contained a rule. */
export function isSilent(fate: number): boolean {
  return SILENT[fate] === 1;
}

const SILENT = Uint8Array.from(FATES, ([, rank]) => (rank === "no-rule" ? 1 : 0));
