import type { Host } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";

interface StoredState {
  readonly version: 1;
  /** Names of the files of each list. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/** Which files of the folder belong to which list, as of the last runs. Targets use it for lists that a run does not publish. */
export class PublishState {
  lists: Record<string, readonly string[]>;
  private readonly file: StateFile<StoredState>;

  private constructor(file: StateFile<StoredState>, stored: StoredState | undefined) {
    this.file = file;
    this.lists = Object.assign(Object.create(null), stored?.lists);
  }

  static async open(folder: string, host: Host): Promise<PublishState> {
    const file = new StateFile(host.path.join(folder, "publish.json"), isState, host);
    return new PublishState(file, await file.read());
  }

  /** Forgets what the configuration no longer has. */
  keepOnly(lists: readonly string[]): void {
    for (const list of Object.keys(this.lists)) if (!lists.includes(list)) delete this.lists[list];
  }

  async store(): Promise<void> {
    await this.file.tryReplace({ version: 1, lists: this.lists }, 1);
  }
}

function isState(value: unknown): value is StoredState {
  if (typeof value !== "object" || value === null) return false;
  const { version, lists } = value as Partial<StoredState>;
  if (version !== 1 || typeof lists !== "object" || lists === null) return false;
  return Object.values(lists).every(isTexts);
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
