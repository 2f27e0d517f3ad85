/** Of what guards find before a list is published. */
export const GUARD_CODES = {
  "blocks-protected": {
    exit: 5,
    meaning:
      "A rule of a fully trusted source would newly block a name that devices cannot do without, or one of `guards.protect`. The old list stays.",
    hint: "Keep the name reachable with `allow`, or accept it with `guards.may_block`",
  },
  "blocks-suffix": {
    exit: 5,
    meaning:
      "The new list has a rule for one of the largest public suffixes, such as com, or for nearly every name. The old list stays.",
    hint: "Remove the rule, or accept it with `guards.may_block_suffixes`",
  },
  "protected-names": {
    meaning:
      "A source below full trust blocks names that devices need. Its rules for them were dropped, and rules for more got an exception.",
    hint: "Nothing has to be done. To block them all the same, add them to `guards.may_block`",
  },
  "protected-blocked": {
    meaning: "A rule of a fully trusted source blocks names that devices need.",
    hint: "Keep them reachable with `allow`, or accept it with `guards.may_block`",
  },
  "suffix-blocked": {
    meaning: "Rules of fully trusted sources block whole public suffixes.",
    hint: "If that is meant, name them in `guards.may_block_suffixes`",
  },
  "new-exceptions": {
    meaning:
      "The new exceptions of a source below full trust free more than 20 names, and more than 0.1 % of the names, that only other sources block. They were dropped, all of them.",
    hint: "If they are right, publish once with --accept new-exceptions; they stay in the list then",
  },
  "may-block-unknown": {
    meaning: "An entry of `guards.may_block` is not a protected name.",
    hint: "Remove it, or check its spelling",
  },
  "too-few-rules": {
    exit: 5,
    meaning: "The new list has fewer rules than `guards.min_rules`. The old list stays.",
    hint: "The summary has what the sources lost. Publish once with --accept too-few-rules; for good, set guards.min_rules",
  },
  "list-shrunk": {
    exit: 5,
    meaning:
      "The new list has far fewer rules than the published one, or than the largest of the last 30 days. The old list stays.",
    hint: "Look at the summary. If it is meant to be, publish once with --accept list-shrunk; for good, set guards.max_shrink",
  },
  "list-grown": {
    exit: 5,
    meaning:
      "The new list has far more rules than the published one, or than 30 days ago. The old list stays.",
    hint: "Look at the summary. If it is meant to be, publish once with --accept list-grown; for good, set guards.max_growth",
  },
  "source-lost-lines": {
    meaning:
      "A source has far fewer lines than when the list was last published. No copy stands in for it: it is a file, copies are not kept, or it was held for as long as `guards.hold` says.",
    hint: "Look at the source; it is reported once",
  },
  "source-grown": {
    exit: 4,
    meaning:
      "A source has far more rules than its last good copy, or more lines than when the list was last published. Where there is a copy, it stands in.",
    hint: "Look at the source; if it is meant to be that large, run once with --accept source-grown",
  },
} as const;
