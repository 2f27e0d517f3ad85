/**
 * Why a row left the list; 0 means that it is still in it. One byte per row. Nothing else removes a row, so counting this
 * column gives the report. Add new fates at the end: build records contain the numbers.
 */
export const FATES = [
  ["live", "in the list"],
  ["spare", "unused slot for another name of a hosts line"],
  ["blank", "blank line of the file"],
  ["directive", "executed directive"],
  ["condition", "inside an !#if whose condition is false"],
  ["diff-path", "update URL of an included file"],
  ["excluded", "matched an exclusion"],
  ["not-included", "matched no inclusion"],
  ["comment", "comment"],
  ["comment-above", "comment or empty line above a dropped rule"],
  ["empty", "empty line"],
  ["duplicate", "same text as another line"],
  ["same-host", "another line blocks the same name"],
  ["covered", "another line blocks a parent domain"],
  ["local-name", "well-known local name of a hosts file"],
  ["no-name", "address without a name"],
  ["nothing-left", "empty after its modifiers were removed"],
  ["bad-syntax", "not a valid rule"],
  ["bad-host", "not a host name"],
  ["bad-modifier", "has a modifier that DNS filtering does not support"],
  ["bad-regex", "regular expression that does not compile"],
  ["too-short", "too short to be a rule"],
  ["too-wide", "would match nearly everything"],
  ["public-suffix", "would block a whole public suffix"],
  ["ip-address", "is an IP address; this validator accepts only names"],
  ["control-bytes", "contains control characters, line separators or bidirectional marks"],
  ["too-long", "longer than 4 KiB, which no resolver accepts"],
  ["real-address", "maps a name to a real address, which the trust of the source does not permit"],
  ["rewrites", "changes responses ($dnsrewrite), which the trust of the source does not permit"],
  [
    "cancels",
    "disables rules of other sources ($badfilter), which the trust of the source does not permit",
  ],
  ["cancelled", "disabled by a $badfilter rule of the same source"],
  [
    "not-block-only",
    "an exception, a rule for some clients or an important rule, from a source that may only block",
  ],
  [
    "slow-regex",
    "expression that RE2 does not support, or that takes too long to check, from a source that is not fully trusted",
  ],
  ["allowed", "its name is on the allowlist"],
  ["own", "dropped by a plugin"],
  [
    "metadata",
    "a directive or information about the source's list, which would mislead subscribers",
  ],
  ["protected", "blocks a name that devices need, from a source that is not fully trusted"],
  ["cut-line", "last line of a response that may be truncated"],
  ["joined", "part of a rule that spans several lines"],
  ["setting", "setting or record that neither blocks nor allows a name"],
  ["trigger", "policy for IP addresses or name servers, not for names"],
  ["not-followed", "includes another file, which is not read"],
  ["too-nested", "block inside more exceptions than adblock syntax can express"],
  [
    "over-budget",
    "new exception; together, they would unblock too many names that only other sources block",
  ],
  ["no-value", "row of a feed without a name or URL"],
  ["not-chosen", "row of a feed that `where` or the type of the feed leaves out"],
  ["url-path", "URL with a path, which says nothing about the rest of its host"],
  ["shared-host", "URL with a path on a host that many people share"],
  ["few-sources", "fewer sources have it than `min_sources` requires"],
  ["too-old", "first seen longer ago than `max_age` permits"],
  ["not-ranked", "matches no popular name up to the rank in `fit.top`"],
  ["newly-blocks", "would block a popular name that the published list does not block"],
  [
    "household",
    "would newly block a name that people need, from a source that is not fully trusted",
  ],
] as const;

/** What became of a line: `live` in the list, or why not. */
export type FateName = (typeof FATES)[number][0];

/** The same by name; `fate.test.ts` keeps the two in sync. Literals, so that V8 folds them in the loops. */
export const Fate = {
  Live: 0,
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
  return SILENT.has(fate);
}

const SILENT = new Set<number>([
  Fate.Spare,
  Fate.Blank,
  Fate.Directive,
  Fate.DiffPath,
  Fate.Comment,
  Fate.CommentAbove,
  Fate.Empty,
  Fate.Metadata,
  Fate.Joined,
  Fate.Setting,
  Fate.NoValue,
]);
