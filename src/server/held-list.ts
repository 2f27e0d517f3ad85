/** A list that stays at an earlier build until it is released. */
export interface HeldList {
  readonly list: string;
  /** When it was held, by whom, and when its build was made; null if the state is damaged. */
  readonly since: string | null;
  readonly by: string | null;
  readonly build: string | null;
}
