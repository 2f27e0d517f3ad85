import type { Scratch } from "../host/host.ts";
import type { ByteSink } from "./output-stage.ts";

const PIECE = 1024 * 1024;

/** Holds a list back until its first bytes are known. */
export class HeldList {
  private readonly sink: ByteSink;
  private scratch: Scratch | undefined;
  private length = 0;

  constructor(scratch: Scratch, sink: ByteSink) {
    this.scratch = scratch;
    this.sink = sink;
  }

  take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.scratch!.append(bytes);
    this.length += bytes.length;
  }

  /** Writes the list with `head` in place of its first bytes. */
  release(head: Uint8Array): void {
    const scratch = this.scratch!;
    scratch.rewrite(0, head);
    for (let at = 0; at < this.length; at += PIECE) {
      const piece = new Uint8Array(Math.min(PIECE, this.length - at));
      scratch.read(at, piece);
      this.sink(piece);
    }
    this.close();
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }
}
