/** Exit codes of the program, by what went wrong. Documented in docs/reference/command-line.md. */
export const Exit = {
  Done: 0,
  Bug: 1,
  Usage: 2,
  /** Of `plan` and `diff`, as of `terraform plan`: it went well, and something changes. */
  Changes: 2,
  Degraded: 3,
  Sources: 4,
  Guard: 5,
  Output: 6,
  Locked: 7,
  Api: 8,
  /** Of `lint`: a list has lines that no resolver would get. */
  Problems: 9,
  Interrupted: 130,
  Terminated: 143,
} as const;
export type Exit = (typeof Exit)[keyof typeof Exit];
