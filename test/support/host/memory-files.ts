import type { PlatformPath } from "node:path";
import { HostError, type OpenFile } from "../../../src/host/host.ts";

/** Characters that Windows does not allow in names. A colon would also open a stream of the file before it. */
const NOT_IN_NAMES = /[<>:"|?*]|[ .]$/;

/**
 * Files by absolute path. With paths of Windows, it behaves as Windows does: names ignore case, some characters are
 * invalid, and an open file can be neither replaced nor removed.
 */
export class MemoryFiles extends Map<string, Uint8Array> {
  private readonly cwd: string;
  private readonly path: PlatformPath;
  private readonly isWindows: boolean;
  /** The spelling of a path by its lower case. */
  private readonly spellings = new Map<string, string>();
  private readonly opened = new Map<string, number>();

  constructor(cwd: string, path: PlatformPath) {
    super();
    this.cwd = cwd;
    this.path = path;
    this.isWindows = path.sep === "\\";
  }

  /** The absolute path, in the spelling of the existing file. */
  spellingOf(name: string): string {
    const absolute = this.path.resolve(this.cwd, name);
    return this.isWindows ? (this.spellings.get(absolute.toLowerCase()) ?? absolute) : absolute;
  }

  override get(name: string): Uint8Array | undefined {
    return super.get(this.spellingOf(name));
  }

  override has(name: string): boolean {
    return super.has(this.spellingOf(name));
  }

  override set(name: string, bytes: Uint8Array): this {
    const spelling = this.spellingOf(name);
    if (this.isWindows) {
      const parts = spelling.slice(this.path.parse(spelling).root.length).split(this.path.sep);
      if (parts.some((part) => NOT_IN_NAMES.test(part)))
        throw new HostError("EINVAL", "the name is invalid");
      this.spellings.set(spelling.toLowerCase(), spelling);
    }
    return super.set(spelling, bytes);
  }

  override delete(name: string): boolean {
    const spelling = this.spellingOf(name);
    this.spellings.delete(spelling.toLowerCase());
    return super.delete(spelling);
  }

  /** Names in a folder. */
  namesBelow(folder: string): string[] {
    const { sep } = this.path;
    const start = this.path.join(this.path.resolve(this.cwd, folder), sep);
    const names = [...super.keys()].filter((name) => this.isStart(start, name));
    return [...new Set(names.map((name) => name.slice(start.length).split(sep)[0]!))];
  }

  /** Counts a file as open until it is closed. */
  open(name: string, file: OpenFile): OpenFile {
    const spelling = this.spellingOf(name);
    this.opened.set(spelling, (this.opened.get(spelling) ?? 0) + 1);
    let isOpen = true;
    return {
      ...file,
      close: async () => {
        if (isOpen) this.opened.set(spelling, this.opened.get(spelling)! - 1);
        isOpen = false;
      },
    };
  }

  /** Throws a `HostError` if the system does not allow changing an open file. */
  refuseOpen(name: string): void {
    if (this.isWindows && (this.opened.get(this.spellingOf(name)) ?? 0) > 0)
      throw new HostError("EPERM", "the file is open");
  }

  private isStart(start: string, name: string): boolean {
    const same = (text: string): string => (this.isWindows ? text.toLowerCase() : text);
    return same(name).startsWith(same(start));
  }
}
