import { Buffer } from "node:buffer";
import { CdbRecords, CdbWriter } from "../../src/formats/cdb.ts";
import { memoryHost } from "./internals.ts";

/** A database in memory. */
export class MemoryDatabase {
  readonly writer: CdbWriter;
  private bytes = Buffer.alloc(1 << 12);
  private length = 0;

  constructor(largest?: number) {
    const target = {
      write: (bytes: Uint8Array): void => {
        while (this.length + bytes.length > this.bytes.length)
          this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.bytes.length)]);
        this.bytes.set(bytes, this.length);
        this.length += bytes.length;
      },
      rewrite: (position: number, bytes: Uint8Array): void => this.bytes.set(bytes, position),
    };
    this.writer = new CdbWriter(target, () => memoryHost({ files: {} }).openScratch(), largest);
  }

  add(key: string, value: string): void {
    const bytes = Buffer.from(key, "latin1");
    this.writer.add(bytes, bytes.length, Buffer.from(value, "latin1"));
  }

  finish(): Buffer {
    this.writer.finish();
    return this.bytes.subarray(0, this.length);
  }
}

/** The database of lines in the format `cdb`. */
export function cdbOf(lines: string): Buffer {
  const database = new MemoryDatabase();
  new CdbRecords(database.writer).add(Buffer.from(lines));
  return database.finish();
}
