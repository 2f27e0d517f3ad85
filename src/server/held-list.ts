/** A list that stays at an earlier build until the hold ends. */
export interface HeldList {
  readonly list: string;
  /** When it was held, by whom, and when its build was made; null if the state is damaged. */
  readonly since: string | null;
  readonly by: string | null;
  readonly build: string | null;
  /** The number of its rules. */
  readonly rules?: number;
}

/** The rules of a list: those of the build that it is held at, or of the last run. */
export function rulesOf(
  { name, rules }: { readonly name: string; readonly rules: number },
  held: readonly HeldList[],
): number {
  return held.find(({ list }) => list === name)?.rules ?? rules;
}
