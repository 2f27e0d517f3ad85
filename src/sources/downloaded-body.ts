import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError, type Scratch } from "../host/host.ts";
import type { DownloadAccount } from "./download-budget.ts";
import { sourceError } from "./source-error.ts";

const PIECE = 256 * 1024;

/** The body of a response in a scratch file, counted against the budget of its source. */
export class DownloadedBody {
  size = 0;
  private readonly scratch: Scratch;
  private readonly account: DownloadAccount | undefined;
  private isOpen = true;

  /** Throws a `CompilerError` if the temporary folder cannot be written to. */
  constructor(host: Host, account?: DownloadAccount) {
    this.account = account;
    try {
      this.scratch = host.openScratch();
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw sourceError(
        "scratch-failed",
        "The temporary folder cannot be written to",
        reasonOf(error.code, error.message),
      );
    }
  }

  /** Throws if the source exceeds its budget. */
  append(bytes: Uint8Array): void {
    this.account?.take(bytes.length);
    this.size += bytes.length;
    this.scratch.append(bytes);
  }

  read(position: number, into: Uint8Array): void {
    this.scratch.read(position, into);
  }

  /** Its bytes; each piece is valid until the next one is read. */
  *pieces(start = 0, end: number = this.size): Generator<Uint8Array> {
    const buffer = new Uint8Array(Math.min(PIECE, end - start));
    for (let at = start; at < end; at += buffer.length) {
      const piece = buffer.subarray(0, Math.min(buffer.length, end - at));
      this.read(at, piece);
      yield piece;
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.account?.give(this.size);
    this.scratch.close();
  }
}
