/**
 * Why a row left the list; 0 means it is still in it. One byte a row, and the only way out of a list: counting this
 * column is the report. New fates go at the end; the numbers are written into build records.
 */
export const FATES = [
  ["live", "in the list"],
  ["spare", "room for one more name of a hosts line, not used"],
  ["blank", "blank line of the file"],
  ["directive", "directive that was carried out"],
  ["condition", "inside an !#if whose condition is false"],
  ["diff-path", "update address of an included file"],
  ["excluded", "matched an exclusion"],
  ["not-included", "matched no inclusion"],
  ["comment", "comment"],
  ["comment-above", "comment or empty line above a dropped rule"],
  ["empty", "empty line"],
  ["duplicate", "the same text stands in another line"],
  ["same-host", "the same name is blocked by another line"],
  ["covered", "a parent domain is blocked by another line"],
  ["local-name", "well-known local name of a hosts file"],
  ["no-name", "address without a name"],
  ["nothing-left", "nothing was left once its modifiers were removed"],
  ["bad-syntax", "not a rule of any known form"],
  ["bad-host", "not a host name"],
  ["bad-modifier", "has a modifier that DNS filtering does not know"],
  ["bad-regex", "regular expression that does not compile"],
  ["too-short", "too short to be a rule"],
  ["too-wide", "would match nearly everything"],
  ["public-suffix", "would block a whole public suffix"],
  ["ip-address", "is an address, and this validator takes names only"],
  ["control-bytes", "holds control characters, line separators or marks of text direction"],
  ["too-long", "longer than 4 KiB, which no resolver takes"],
  ["real-address", "gives a name a real address, which the source is not trusted with"],
  ["rewrites", "changes answers ($dnsrewrite), which the source is not trusted with"],
  ["cancels", "takes back other rules ($badfilter), which the source may do only with its own"],
  ["cancelled", "taken back by a $badfilter rule of the same source"],
  [
    "not-block-only",
    "an exception, or a rule for some clients or above others, of a source that may only block",
  ],
  [
    "slow-regex",
    "regular expression that RE2 does not take, or expression or pattern that takes too long to check, from a source that is not trusted with it",
  ],
  ["allowed", "for a name on the allow-list"],
  ["own", "taken out by a transformation of your own"],
  [
    "metadata",
    "a directive or information about the source's list, which would mislead subscribers",
  ],
  ["protected", "for a name that devices need, of a source that is not fully trusted"],
  ["cut-line", "last line of an answer that may have been cut within it"],
  ["joined", "says one thing together with a line next to it, which has the rule"],
  ["setting", "setting or record of its format that neither blocks nor allows a name"],
  ["trigger", "policy for addresses or name servers, not for names"],
  ["not-followed", "asks for another file, which is not read"],
  ["too-nested", "block inside more exceptions than adblock syntax can express"],
  [
    "over-budget",
    "one of the new exceptions of a source that together free too many names that only other sources block",
  ],
] as const;

export type FateName = (typeof FATES)[number][0];

/** The same by name; `fate.test.ts` holds the two together. Literals, so that V8 folds them in the loops. */
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
} as const;
export type Fate = (typeof Fate)[keyof typeof Fate];

export function fateName(fate: number): FateName {
  return FATES[fate]![0];
}

/** Whether `by` names the row that made this one redundant. */
export function hasCause(fate: number): boolean {
  return fate === Fate.Duplicate || fate === Fate.SameHost || fate === Fate.Covered;
}

/** Whether a row carries no rule, and never did. */
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
]);
