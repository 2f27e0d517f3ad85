import type { Host } from "../host/host.ts";
import type { EventLog } from "./event-log.ts";
import { type Edition, editionOf, packEdition, packedFolder } from "./published-list.ts";

/** How long it may go unnoticed that somebody else published a list. */
const LOOK_AGAIN_MS = 1000;

/** The lists that are served, as they are now. */
export class ListShelf {
  private readonly host: Host;
  private readonly log: EventLog;
  private readonly root: string | undefined;
  private paths: readonly string[] = [];
  private readonly editions = new Map<string, Edition>();
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
    const name = this.root === undefined ? ".." : this.host.path.relative(this.root, path);
    const isOutside = name.startsWith("..") || this.host.path.isAbsolute(name);
    return isOutside ? this.host.path.basename(path) : name.replaceAll(this.host.path.sep, "/");
  }

  /** Says which files are lists. */
  serve(paths: readonly string[]): void {
    this.paths = paths;
  }

  get names(): string[] {
    return this.paths.map((path) => this.nameOf(path));
  }

  get missing(): string[] {
    return this.names.filter((name) => !this.editions.has(name));
  }

  get all(): Edition[] {
    return [...this.editions.values()];
  }

  /** The present edition of a list. Looks at the disk in the background when that is due. */
  find(name: string): Edition | undefined {
    if (this.host.now().getTime() - this.looked > LOOK_AGAIN_MS) void this.look();
    return this.editions.get(name);
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
      const old = this.editions.get(name);
      const stamp = await this.host.stampOf(path);
      if (stamp === undefined) continue;
      there.add(name);
      if (stamp.text === old?.stamp) continue;
      const found = await editionOf(path, packedFolder(path, this.host), this.host);
      if (found === undefined) continue;
      const edition = { ...found, name };
      this.editions.set(name, edition);
      this.pack(path, edition);
    }
    for (const name of this.editions.keys()) if (!there.has(name)) this.editions.delete(name);
  }

  /** Nobody waits for it: until it is done the list is served as it is. */
  private pack(path: string, edition: Edition): void {
    if (this.host.packFile === undefined) return;
    this.packing = this.packing
      .then(async () => {
        await packEdition(path, edition, packedFolder(path, this.host), this.host);
        const packed = await editionOf(path, packedFolder(path, this.host), this.host);
        const isCurrent = this.editions.get(edition.name) === edition;
        if (isCurrent && packed?.stamp === edition.stamp)
          this.editions.set(edition.name, { ...packed, name: edition.name });
      })
      .catch((error: unknown) =>
        this.log.say("warning", "not-packed", {
          list: edition.name,
          reason: (error as Error).message,
        }),
      );
  }
}
