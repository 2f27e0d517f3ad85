import { LF } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { DownloadedBody } from "./downloaded-body.ts";
import { inLedgerOrder, ledgerHash } from "./kept-entries.ts";

/** Texts are sorted in this many parts, so that memory holds one part of them. */
const PARTS = 64;
const BUFFER = 64 * 1024;

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Collects texts in any order and returns them in the order of ledgers, each once. Most of them are in a temporary file. */
export class SeenTexts {
  private readonly host: Host;
  private readonly buffers = Array.from({ length: PARTS }, () => new ByteBuffer());
  private readonly extents: Extent[][] = Array.from({ length: PARTS }, () => []);
  private body: DownloadedBody | undefined;

  constructor(host: Host) {
    this.host = host;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const part = ledgerHash(bytes, start, end) >>> 26;
    const buffer = this.buffers[part]!;
    buffer.append(bytes, start, end);
    buffer.push(LF);
    if (buffer.length >= BUFFER) this.flush(part, buffer);
  }

  *inOrder(): Generator<string> {
    for (let part = 0; part < PARTS; part++) {
      const texts = new Set(this.textOf(part).split("\n"));
      texts.delete("");
      yield* inLedgerOrder(texts);
    }
  }

  close(): void {
    this.body?.close();
    this.body = undefined;
  }

  private flush(part: number, buffer: ByteBuffer): void {
    this.body ??= new DownloadedBody(this.host);
    const start = this.body.size;
    this.body.append(buffer.view());
    this.extents[part]!.push({ start, end: start + buffer.length });
    buffer.length = 0;
  }

  private textOf(part: number): string {
    const texts = this.extents[part]!.map(({ start, end }) => {
      const bytes = new Uint8Array(end - start);
      this.body!.read(start, bytes);
      return decodeUtf8(bytes);
    });
    return texts.join("") + decodeUtf8(this.buffers[part]!.view());
  }
}
