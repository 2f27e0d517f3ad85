import type { Host } from "../host/host.ts";

/** A list that stays at an earlier build until it is released. */
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

const SECOND = 1000;

/** The held lists, as last read. A rollback may hold a list at any time, so each look begins a new read, at most once a second. */
export class HeldLists {
  /** The held lists when they were last read. */
  all: readonly HeldList[] = [];
  private readonly read: () => Promise<readonly HeldList[]>;
  private readonly host: Host;
  private begunAt = -Infinity;
  private reading: Promise<void> | undefined;

  constructor(read: () => Promise<readonly HeldList[]>, host: Host) {
    this.read = read;
    this.host = host;
  }

  look(): readonly HeldList[] {
    if (Math.abs(this.host.now().getTime() - this.begunAt) >= SECOND) void this.refresh();
    return this.all;
  }

  /** Like `refresh`, but sees everything that happened before the call. */
  async refreshNow(): Promise<void> {
    await this.reading;
    await this.refresh();
  }

  /** Resolves when the lists have been read. */
  async refresh(): Promise<void> {
    this.begunAt = this.host.now().getTime();
    this.reading ??= this.read()
      .then((all) => void (this.all = all))
      // Files that cannot be read now are read again at the next look.
      .catch(() => {})
      .finally(() => (this.reading = undefined));
    await this.reading;
  }
}
