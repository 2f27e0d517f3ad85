/** The codes of guards. `--accept` takes these names. */
export const GUARD_NAMES = [
  "blocks-protected",
  "blocks-suffix",
  "too-few-rules",
  "names-lost",
  "source-shrunk",
  "source-grown",
  "source-replaced",
  "new-exceptions",
  "names-freed",
  "not-covered",
  "empty-output",
  "unproved-build",
  "breaks-traffic",
] as const;

/** The name of a guard. */
export type GuardName = (typeof GUARD_NAMES)[number];
