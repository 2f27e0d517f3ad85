/** What a list may be refused for, by the code that says so: the names that `--accept` takes. */
export const GUARD_NAMES = [
  "blocks-protected",
  "blocks-suffix",
  "too-few-rules",
  "list-shrunk",
  "list-grown",
  "source-shrunk",
  "source-lost-lines",
  "source-grown",
  "source-replaced",
  "new-exceptions",
  "not-covered",
  "empty-output",
] as const;

/** The name of a guard: the code of its refusal. */
export type GuardName = (typeof GUARD_NAMES)[number];
