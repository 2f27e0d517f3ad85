import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { ListSpool } from "../engine/output-stage.ts";
import { NameBuffer } from "../formats/name-buffer.ts";
import type { Scratch } from "../host/host.ts";
import type { Chunk } from "../rules/chunk.ts";

/** A number of consecutive bytes from one source. */
interface SourceRun {
  readonly source: number;
  readonly bytes: number;
}

/** The source of every byte that a spool received. */
export interface SpoolRuns {
  /** For the lines at the end of the list. */
  readonly list: readonly SourceRun[];
  readonly covered: readonly SourceRun[];
}

const NO_RUNS: SpoolRuns = { list: [], covered: [] };

/** The input of a spool, for later. */
export interface KeptSpool {
  readonly runs: SpoolRuns;
  /** The covered names, in pieces. */
  readonly covered: () => Iterable<Uint8Array>;
  close(): void;
}

/** Nothing: a list without other formats has no spool. */
export const NO_SPOOL: KeptSpool = { runs: NO_RUNS, covered: () => [], close: () => {} };

/** A spool that can be kept. */
export class TapedSpool implements ListSpool {
  readonly names: NameBuffer;
  private readonly openScratch: () => Scratch;
  private readonly list: { readonly source: number; bytes: number }[] = [];

  constructor(wantsCovered: boolean, openScratch: () => Scratch) {
    this.names = new NameBuffer(openScratch, wantsCovered);
    this.openScratch = openScratch;
  }

  take(bytes: Uint8Array, source: number): void {
    addRun(this.list, bytes.length, source);
    this.names.take(bytes, source);
  }

  takeCovered(chunk: Chunk, source: number): void {
    this.names.takeCovered(chunk, source);
  }

  /** Call it before the formats are written: they remove names from the spool. */
  keep(): KeptSpool {
    const blocks = this.names.covered.all();
    const covered = blocks.map(({ source, length }) => ({ source, bytes: length }));
    const runs = { list: this.list, covered };
    if (blocks.length === 0) return { ...NO_SPOOL, runs };
    const scratch = this.openScratch();
    const places = blocks.map(({ length, load }) => ({
      length,
      at: scratch.append(load().subarray(0, length)),
    }));
    return {
      runs,
      *covered() {
        for (const { length, at } of places) {
          const piece = new Uint8Array(length);
          scratch.read(at, piece);
          yield piece;
        }
      },
      close: () => scratch.close(),
    };
  }
}

function addRun(
  runs: { readonly source: number; bytes: number }[],
  bytes: number,
  source: number,
): void {
  const last = runs.at(-1);
  if (last?.source === source) last.bytes += bytes;
  else runs.push({ source, bytes });
}

/** Records the input of a spool. The list contains the lines, so the tape keeps only their sources, and the covered names. */
export class SpoolTape implements ListSpool {
  private readonly list: { readonly source: number; bytes: number }[] = [];
  private readonly names: NameBuffer;

  constructor(wantsCovered: boolean, openScratch: () => Scratch) {
    this.names = new NameBuffer(openScratch, wantsCovered);
  }

  take({ length }: Uint8Array, source: number): void {
    addRun(this.list, length, source);
  }

  takeCovered(chunk: Chunk, source: number): void {
    this.names.takeCovered(chunk, source);
  }

  /** Call it after the last chunk. */
  end(): { runs: SpoolRuns; covered: Uint8Array } {
    const bytes = new ByteBuffer();
    const covered = this.names.covered.all().map(({ source, length, load }) => {
      bytes.append(load(), 0, length);
      return { source, bytes: length };
    });
    this.names.close();
    return { runs: { list: this.list, covered }, covered: bytes.view() };
  }
}

/** Replays a tape into a spool. */
export function playTape(
  { list: listRuns, covered: coveredRuns }: SpoolRuns,
  { list, covered }: { readonly list: Uint8Array; readonly covered: Uint8Array },
  spool: NameBuffer,
): void {
  let at = list.length - listRuns.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { source, bytes } of listRuns) spool.take(list.subarray(at, (at += bytes)), source);
  at = 0;
  for (const { source, bytes } of coveredRuns)
    spool.covered.addAll(covered.subarray(at, (at += bytes)), source);
}
