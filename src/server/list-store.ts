import { basename, isAbsolute, relative } from "node:path";
import type { Host } from "../host/host.ts";
import type { EventLog } from "./event-log.ts";
import {
  type ListVersion,
  readListVersion,
  packListVersion,
  packedFolder,
} from "./list-version.ts";

/** How long it may go unnoticed that somebody else published a list. */
const LOOK_AGAIN_MS = 1000;

/** The lists that are served, as they are now. */
export class ListStore {
  private readonly host: Host;
  private readonly log: EventLog;
  private readonly root: string | undefined;
  private paths: readonly string[] = [];
  private readonly versions = new Map<string, ListVersion>();
  private looked = -Infinity;
  private looking: Promise<void> | undefined;
  private packing: Promise<void> = Promise.resolve();

  /** Files below `root` are called by their path from there, others by their name alone. */
  constructor(host: Host, log: EventLog, root?: string) {
    this.host = host;
    this.log = log;
    this.root = root;
  }

  nameOf(path: string): string {
    const name = this.root === undefined ? ".." : relative(this.root, path);
    const isOutside = name.startsWith("..") || isAbsolute(name);
    return isOutside ? basename(path) : name.replaceAll("\\", "/");
  }

  /** Says which files are lists. */
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

  /** The present version of a list. Looks at the disk in the background when that is due. */
  find(name: string): ListVersion | undefined {
    if (this.host.now().getTime() - this.looked > LOOK_AGAIN_MS) void this.look();
    return this.versions.get(name);
  }

  /** Takes over what is on the disk. */
  look(): Promise<void> {
    this.looking ??= this.lookOnce().finally(() => (this.looking = undefined));
    return this.looking;
  }

  /** As `look`, and certain to see what was published before the call. */
  async lookNow(): Promise<void> {
    await this.looking;
    await this.look();
  }

  /** Resolves when nothing is being packed. */
  async settled(): Promise<void> {
    await this.packing;
  }

  private async lookOnce(): Promise<void> {
    this.looked = this.host.now().getTime();
    const there = new Set<string>();
    for (const path of this.paths) {
      const name = this.nameOf(path);
      const old = this.versions.get(name);
      const stamp = await this.host.stampOf(path);
      if (stamp === undefined) continue;
      there.add(name);
      if (stamp.text === old?.stamp) continue;
      const found = await readListVersion(path, packedFolder(path), this.host);
      if (found === undefined) continue;
      const version = { ...found, name };
      this.versions.set(name, version);
      this.pack(path, version);
    }
    for (const name of this.versions.keys()) if (!there.has(name)) this.versions.delete(name);
  }

  /** Nobody waits for it: until it is done the list is served as it is. */
  private pack(path: string, version: ListVersion): void {
    if (this.host.packFile === undefined) return;
    this.packing = this.packing
      .then(async () => {
        await packListVersion(path, version, packedFolder(path), this.host);
        const packed = await readListVersion(path, packedFolder(path), this.host);
        const isCurrent = this.versions.get(version.name) === version;
        if (isCurrent && packed?.stamp === version.stamp)
          this.versions.set(version.name, { ...packed, name: version.name });
      })
      .catch((error: unknown) =>
        this.log.say("warning", "not-packed", {
          list: version.name,
          reason: (error as Error).message,
        }),
      );
  }
}
