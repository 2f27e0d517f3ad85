/** Diagnostics of guards, before a list is published. */
export const GUARD_CODES = {
  "blocks-protected": {
    exit: 5,
    meaning:
      "A rule of a fully trusted source would newly block a name that devices need, or one of `guards.protect`. The published list stays.",
    hint: "Keep the name reachable with `allow`, or accept it with `guards.may_block`",
  },
  "blocks-suffix": {
    exit: 5,
    meaning:
      "The new list has a rule for one of the largest public suffixes, such as com, or for nearly every name. The published list stays.",
    hint: "Remove the rule, or accept it with `guards.may_block_suffixes`",
  },
  "popular-kept": {
    meaning:
      "A source would newly block popular names. Its rules for them were dropped; broader rules got an exception (`guards.newly_blocks`).",
    hint: "To block them, add them to `guards.may_block`",
  },
  "unproved-build": {
    exit: 5,
    meaning:
      "The new list was rolled back three times within a day, because resolvers did not answer from it (`on_failure: rollback`). The published list stays until the rules change or the day is over.",
    hint: "Find out why the resolvers could not use it; then publish it with --accept unproved-build",
  },
  "protected-names": {
    meaning:
      "A source without full trust blocks names that devices need. Its rules for these names were dropped; broader rules got an exception.",
    hint: "No action is needed. To block them anyway, add them to `guards.may_block`",
  },
  "household-names": {
    meaning:
      "A source without full trust would block names that people need, such as a search engine, a mail service or a bank. Its rules for these names were dropped; broader rules got an exception.",
    hint: "If that is intended, add the names or their kind to `guards.may_block`; otherwise tell the maintainer of the list",
  },
  "household-blocked": {
    meaning:
      "Sources block social media, messengers, games, streaming services, shops or the sites of one vendor. Some lists exist for that: a source may do so if it is new to the list, or if it did so in the published list.",
    hint: "To keep names reachable, add them to `allow`",
  },
  "protected-blocked": {
    meaning: "A rule of a fully trusted source blocks names that devices need.",
    hint: "Keep them reachable with `allow`, or accept it with `guards.may_block`",
  },
  "suffix-blocked": {
    meaning: "Rules of fully trusted sources block whole public suffixes.",
    hint: "If this is intended, add them to `guards.may_block_suffixes`",
  },
  "new-exceptions": {
    meaning:
      "New exceptions of a source without full trust would unblock more than 20 names, and more than 0.1 % of the names, that only other sources block. All of them were dropped.",
    hint: "If they are intended, publish once with --accept new-exceptions; they are kept from then on",
  },
  "names-freed": {
    exit: 4,
    meaning:
      "New entries of a remote file of `allow_sources`, `exclusions_sources` or `guards.protect` would free more than 20 names, and more than 0.1 % of the names, of the published list within 30 days. The file is held.",
    hint: "Check the file; if the change is intended, run once with --accept names-freed",
  },
  "may-block-unknown": {
    meaning: "An entry of `guards.may_block` is not a protected name.",
    hint: "Remove it, or check its spelling",
  },
  "too-few-rules": {
    exit: 5,
    meaning: "The new list has fewer rules than `guards.min_rules`. The published list stays.",
    hint: "The summary shows what the sources lost. Publish once with --accept too-few-rules, or change guards.min_rules",
  },
  "names-lost": {
    exit: 5,
    meaning:
      "The new list would lose more than 30 % of the published names, because sources cannot be read and have no copy. The published list stays.",
    hint: "Correct the URLs of these sources, or remove them from the configuration. To publish once without them, use --accept names-lost",
  },
  "breaks-traffic": {
    meaning:
      "A source without full trust would newly block more of the queries in a log than `guards.breaks_traffic` allows. Its lines that do so were dropped.",
    hint: "Check the new lines of the source; if they are intended, publish once with --accept breaks-traffic",
  },
  "traffic-blocked": {
    meaning:
      "The list newly blocks more of the queries in a log than `guards.breaks_traffic` allows: by lines of fully trusted or new sources, by lines of several sources together, or because an exception went. The list is published.",
    hint: "plan --traffic FILE --verbose shows the names before a publish. Keep them reachable with `allow`",
  },
  "traffic-unchecked": {
    meaning:
      "The logs of `guards.breaks_traffic` cannot be read or have no queries, so the guard did not check the list. The list is published.",
    hint: "Check guards.breaks_traffic.logs, and that the resolver writes its queries there",
  },
  "source-grown": {
    exit: 4,
    meaning:
      "A remote source gained more than twice the names of its published text, or more than three times within 7 or 30 days. It is held.",
    hint: "Check the source; if the change is intended, run once with --accept source-grown",
  },
} as const;
