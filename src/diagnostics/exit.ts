/** Exit codes of the program, by what went wrong. Documented in docs/reference/command-line.md. */
export const Exit = {
  Done: 0,
  Bug: 1,
  Usage: 2,
  Degraded: 3,
  Sources: 4,
  Guard: 5,
  Output: 6,
  Locked: 7,
  Api: 8,
  /** Of `lint`: a list has lines that no resolver would get. */
  Problems: 9,
  /** Of `plan` and `diff` with `--exit-code`. No error has it, so that scripts can tell. */
  Changes: 10,
  /** Of `health` and `status`. */
  Unhealthy: 11,
  /** Of `prove`, and of a build with hooks. */
  Unproved: 12,
  Interrupted: 130,
  Terminated: 143,
} as const;
/** An exit code of the program. */
export type Exit = (typeof Exit)[keyof typeof Exit];

/** What each of them means, for help, the manual page and the reference. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof Exit, string>> = {
  Done: "Success. The list was written, or is up to date.",
  Bug: "A bug in rules-compiler. Please report it.",
  Usage:
    "The command line, the configuration or a file of exclusions is invalid. Nothing was written.",
  Degraded:
    "The first list was written, but lacks a source that cannot be read, and no hook ran. With `--strict`, also later: a source is left out or replaced by its last good copy.",
  Sources:
    "Too many sources cannot be read, or one with `required`; with `--compat`, any. Nothing was written.",
  Guard:
    "A guard refused the new list (`plan`: would refuse it), or it does not fit the account. The published list is unchanged.",
  Output: "The list could not be written. The published list is unchanged.",
  Locked: "Another run is compiling the same list. Nothing was written.",
  Api: "The DNS API did not respond, or rejected the key.",
  Problems: "`lint`: a list has errors; with `--strict`, errors or warnings.",
  Changes: "`plan` and `diff` with `--exit-code`: something changes.",
  Unhealthy: "`health`, `status`: the server is unhealthy or does not respond.",
  Unproved: "`prove`, and `compile --permit hooks`: a resolver does not answer from the list.",
  Interrupted: "Stopped by SIGINT.",
  Terminated: "Stopped by SIGTERM.",
};
