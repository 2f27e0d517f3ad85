/** Diagnostics of publishing: releases, plans and rollbacks. */
export const PUBLISH_CODES = {
  "publish-unfinished": {
    meaning:
      "A run ended while it published a list, so some files may be of the new build and others of the old one. The next run that publishes completes or undoes it before anything else.",
    hint: "Run compile again",
  },
  "not-combined": {
    meaning:
      "A file of `combined` is not written, because one of its lists is not published. The lists themselves are.",
    hint: "Fix the list, or name the other lists in `lists` of the entry",
  },
  "manifest-mismatch": {
    exit: 5,
    meaning:
      "A release does not match its manifest, has expired, is not signed with the key, belongs to another list, or is older than the last good one.",
    hint: "Download it again; if the problem persists, do not use it",
  },
  "bad-key": {
    exit: 2,
    meaning: "A key for signing or verifying cannot be read, or is invalid.",
    hint: "Create a key pair with minisign -G -W; the secret key goes into manifest.key_file, the public key to --key",
  },
  "plan-unreadable": {
    exit: 2,
    meaning: "The file given to `apply` is not a plan, or another version saved it.",
    hint: "Create one with plan --save, and apply it with the same version",
  },
  "plan-outdated": {
    exit: 5,
    meaning:
      "The published list has changed since the plan was saved, is already the list of the plan, or has a file that would not be the planned one.",
    hint: "Run plan again and review the changes",
  },
  "not-rolled-back": {
    meaning:
      "The configuration has an output that it did not have when the build was made. `rollback` leaves its file as it is.",
    hint: "Run compile when the sources are good again",
  },
} as const;
