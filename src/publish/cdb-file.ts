import type { WriteOutcome } from "../documents/facts.ts";
import { encodeUtf8 } from "../bytes/text.ts";
import { scratchOf } from "../engine/compile-options.ts";
import { CdbRecords, CdbWriter, dnsdistLua } from "../formats/cdb.ts";
import type { Host } from "../host/host.ts";
import type { FileSet } from "./file-set.ts";
import { ListFile } from "./list-file.ts";

/** The name of the Lua file of a database. */
export function luaName(path: string): string {
  return `${path}.lua`;
}

/** The list as a constant database, and the Lua file for it. */
export class CdbFile {
  readonly path: string;
  readonly paths: readonly string[];
  private readonly host: Host;
  private readonly list: string;
  private readonly file: ListFile;
  private readonly lua: ListFile;
  private writer: CdbWriter | undefined;
  private records: CdbRecords | undefined;

  constructor(path: string, list: string, host: Host) {
    this.path = path;
    this.paths = [path];
    this.list = list;
    this.host = host;
    this.file = new ListFile(path, host);
    this.lua = new ListFile(luaName(path), host);
  }

  get bytes(): number {
    return this.writer?.bytes ?? 0;
  }

  /** Whether the names need more than 4 GiB. */
  get isTooLarge(): boolean {
    return this.writer?.isFull === true;
  }

  async open(): Promise<void> {
    await this.file.open();
    await this.lua.open();
    this.writer = new CdbWriter(this.file, () => scratchOf(this.host));
    this.records = new CdbRecords(this.writer);
    this.lua.write(encodeUtf8(dnsdistLua([this.list])));
  }

  write(lines: Uint8Array): void {
    this.records!.add(lines);
  }

  /** Completes the database. */
  finish(): void {
    this.writer!.finish();
  }

  async stage(set: FileSet): Promise<WriteOutcome> {
    const outcomes = [await this.file.stageLater(set), await this.lua.stage(set)];
    return outcomes.includes("written") ? "written" : "unchanged";
  }

  async close(): Promise<void> {
    this.writer?.close();
    await this.lua.close();
    await this.file.close();
  }
}
