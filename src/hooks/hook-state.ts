import type { HookConfig } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import type { StateFile } from "../host/state-file.ts";
import { stateOf } from "../record/record-folder.ts";
import type { ListHealth, Told } from "./due-events.ts";

interface StoredState {
  readonly version: 1;
  /** Identifies the files of the last publish. */
  readonly files?: string;
  /** By the digest of the hook's settings. */
  readonly told: Readonly<Record<string, Told>>;
}

const HEALTHS = new Set<ListHealth>(["good", "degraded", "refused", "failed"]);

/** What each hook knows about one list, stored beside the list. A list on standard output has no such file. */
export class HookState {
  private readonly file: StateFile<StoredState> | undefined;
  private told: Record<string, Told>;
  private files: string | undefined;

  private constructor(file: StateFile<StoredState> | undefined, stored: StoredState | undefined) {
    this.file = file;
    this.told = { ...stored?.told };
    this.files = stored?.files;
  }

  static async open(list: string | undefined, host: Host): Promise<HookState> {
    if (list === undefined) return new HookState(undefined, undefined);
    const file = stateOf(list, "hooks.json", isState, host);
    return new HookState(file, await file.read());
  }

  get(key: string): Told | undefined {
    return Object.hasOwn(this.told, key) ? this.told[key] : undefined;
  }

  /** Completes what a run found. One that published nothing leaves the files of an earlier one, which a hook may not know yet. */
  async complete(now: Told): Promise<Told> {
    const { files = this.files } = now;
    if (files === undefined) return now;
    if (files !== this.files) {
      this.files = files;
      await this.store();
    }
    return { ...now, files };
  }

  /** Stores at once, so that a run that is killed repeats as little as possible. */
  async set(key: string, told: Told): Promise<void> {
    const known = this.get(key);
    if (known !== undefined && isSame(known, told)) return;
    this.told[key] = told;
    await this.store();
  }

  /** Forgets hooks that the configuration no longer has. */
  keepOnly(keys: readonly string[]): void {
    this.told = Object.fromEntries(Object.entries(this.told).filter(([key]) => keys.includes(key)));
  }

  private async store(): Promise<void> {
    const { told, files } = this;
    await this.file?.tryReplace({ version: 1, ...(files !== undefined && { files }), told }, 1);
  }
}

/** Identifies a hook by its settings. Secrets are in files, and not part of it. */
export async function hookKey(hook: HookConfig): Promise<string> {
  return await shortDigest(JSON.stringify(hook));
}

export async function shortDigest(text: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function isSame(one: Told, other: Told): boolean {
  const { isUnproved = false } = one;
  const isKnown = one.health === other.health && one.files === other.files;
  return isKnown && isUnproved === (other.isUnproved ?? false);
}

function isState(value: unknown): value is StoredState {
  if (typeof value !== "object" || value === null) return false;
  const { version, files, told } = value as Partial<StoredState>;
  if (files !== undefined && typeof files !== "string") return false;
  if (version !== 1 || typeof told !== "object" || told === null) return false;
  return Object.values(told).every(isTold);
}

function isTold(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { health, files, isUnproved = false } = value as Partial<Told>;
  if (typeof isUnproved !== "boolean") return false;
  return HEALTHS.has(health!) && (files === undefined || typeof files === "string");
}
