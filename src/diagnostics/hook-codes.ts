/** Diagnostics of hooks. */
export const HOOK_CODES = {
  "hooks-skipped": {
    meaning: "The configuration has hooks, which run only with `--permit hooks`.",
    hint: "Read them, then add --permit hooks to run them",
  },
  "hook-ran": {
    meaning: "A hook ran after a build. If it was a program, the end of its output is shown.",
    hint: "No action is needed",
  },
  "hook-failed": {
    meaning:
      "A hook failed or took too long. What was published stays, and the exit code of the build is not affected.",
    hint: "Fix the cause; the next run with --permit hooks tries it again",
    over: "The hook {} works again",
  },
} as const;
