/** Diagnostics of the targets of `publish`. */
export const TARGET_CODES = {
  "targets-skipped": {
    meaning:
      "The configuration has targets under `publish`, which are used only with `--publish`, and only for lists in the rules directory.",
    hint: "Read them, then add --publish to use them",
  },
  "no-targets": {
    meaning: "`--publish` was given, but the configuration has no targets under `publish`.",
    hint: "Add a git branch or a bucket under publish, or remove --publish",
  },
  "target-failed": {
    exit: 13,
    meaning:
      "The published files could not be copied to a target of `publish`. The rules directory has them.",
    hint: "Fix the cause; the next run with --publish tries it again",
  },
  "target-incomplete": {
    meaning: "A published file is outside the rules directory, so that no target gets it.",
    hint: "Give the output a path below the rules directory",
  },
} as const;
