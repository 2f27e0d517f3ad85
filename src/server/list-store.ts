import type { Host } from "../host/host.ts";
import type { EventLog } from "./event-log.ts";
import {
  type ListVersion,
  readListVersion,
  packListVersion,
  packedFolder,
} from "./list-version.ts";

/** How long the store may miss that another process published a list. */
const REFRESH_MS = 1000;

/** The current versions of the lists that are served. */
export class ListStore {
  private readonly host: Host;
  private readonly log: EventLog;
  private readonly root: string | undefined;
  private paths: readonly string[] = [];
  private readonly versions = new Map<string, ListVersion>();
  private refreshedAt = -Infinity;
  private refreshing: Promise<void> | undefined;
  private packing: Promise<void> = Promise.resolve();

  /** A list below `root` is named by its path relative to `root`, any other by its file name. */
  constructor(host: Host, log: EventLog, root?: string) {
    this.host = host;
    this.log = log;
    this.root = root;
  }

  nameOf(path: string): string {
    const name = this.root === undefined ? ".." : this.host.path.relative(this.root, path);
    const isOutside = name.startsWith("..") || this.host.path.isAbsolute(name);
    return isOutside ? this.host.path.basename(path) : name.replaceAll(this.host.path.sep, "/");
  }

  /** Sets the files to serve. */
  serve(paths: readonly string[]): void {
    this.paths = paths;
  }

  get names(): string[] {
    return this.paths.map((path) => this.nameOf(path));
  }

  get missing(): string[] {
    return this.names.filter((name) => !this.versions.has(name));
  }

  get all(): ListVersion[] {
    return [...this.versions.values()];
  }

  /** The current version of a list. Starts a refresh in the background when one is due. */
  find(name: string): ListVersion | undefined {
    if (this.host.now().getTime() - this.refreshedAt > REFRESH_MS) void this.refresh();
    return this.versions.get(name);
  }

  /** Reads the lists that changed on disk. */
  refresh(): Promise<void> {
    this.refreshing ??= this.readChanges().finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  /** Like `refresh`, but sees everything that was published before the call. */
  async refreshNow(): Promise<void> {
    await this.refreshing;
    await this.refresh();
  }

  /** Resolves when no compression is in progress. */
  async settled(): Promise<void> {
    await this.packing;
  }

  private async readChanges(): Promise<void> {
    this.refreshedAt = this.host.now().getTime();
    const existing = new Set<string>();
    for (const path of this.paths) {
      const name = this.nameOf(path);
      const old = this.versions.get(name);
      const stamp = await this.host.stampOf(path);
      if (stamp === undefined) continue;
      existing.add(name);
      if (stamp.text === old?.fingerprint) continue;
      const found = await readListVersion(path, packedFolder(path, this.host), this.host);
      if (found === undefined) continue;
      const version = { ...found, name };
      this.versions.set(name, version);
      this.pack(path, version);
    }
    for (const name of this.versions.keys()) if (!existing.has(name)) this.versions.delete(name);
  }

  /** Compresses in the background; until then the list is served uncompressed. */
  private pack(path: string, version: ListVersion): void {
    if (this.host.packFile === undefined) return;
    this.packing = this.packing
      .then(async () => {
        await packListVersion(path, version, packedFolder(path, this.host), this.host);
        const packed = await readListVersion(path, packedFolder(path, this.host), this.host);
        const isCurrent = this.versions.get(version.name) === version;
        if (isCurrent && packed?.fingerprint === version.fingerprint)
          this.versions.set(version.name, { ...packed, name: version.name });
      })
      .catch((error: unknown) =>
        this.log.write("warning", "not-packed", {
          list: version.name,
          reason: (error as Error).message,
        }),
      );
  }
}
