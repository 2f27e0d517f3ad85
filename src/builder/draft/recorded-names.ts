import { AT, ByteBuffer, countLineFeeds, decodeUtf8, eachLine, lineEnd } from "../../bytes/text.ts";
import type { PublishedRules } from "../../engine/compile-options.ts";
import type { NameSink } from "../../engine/output-stage.ts";
import { nameLists } from "../../engine/plan.ts";
import { SourceReader } from "../../engine/source-reader.ts";
import { type KnownNames, NameBuffer } from "../../formats/names.ts";
import { ifAvailable, readLines } from "../../host/files.ts";
import type { Host, Scratch } from "../../host/host.ts";
import type { RankedNames } from "../../meaning/ranked-names.ts";
import { type OutputPlan, blocksNamesAlone } from "../../publish/output-plan.ts";
import type { Chunk } from "../../rules/chunk.ts";
import type { BuildOptions } from "../plan/build-options.ts";
import type { ListPlan } from "../plan/list-plan.ts";
import { openProject } from "../plan/project.ts";
import type { BuildSession } from "../session.ts";
import { readLastPublish, readMemory } from "../state/list-state.ts";

/** A number of consecutive bytes from one source. */
interface ByteRun {
  readonly source: number;
  readonly bytes: number;
}

/** The source of every byte that a sink of names received. */
export interface SourceRuns {
  /** For the lines at the end of the list. */
  readonly list: readonly ByteRun[];
  readonly covered: readonly ByteRun[];
}

/** Whether the outputs of a list need the names that parents cover. */
export function wantsCovered(outputs: readonly OutputPlan[]): boolean {
  return outputs.some(blocksNamesAlone);
}

/** Kept names are read in pieces of about this many bytes. */
const PIECE = 1024 * 1024;

const NO_RUNS: SourceRuns = { list: [], covered: [] };

/** What a sink of names received, for later. */
export interface KeptNames {
  readonly runs: SourceRuns;
  /** The covered names, in pieces. */
  readonly covered: () => Iterable<Uint8Array>;
  close(): void;
}

/** Nothing: a list without other formats has no sink of names. */
export const NO_NAMES: KeptNames = { runs: NO_RUNS, covered: () => [], close: () => {} };

/** A buffer of names whose input can be kept. */
export class RecordedNames implements NameSink {
  readonly buffer: NameBuffer;
  private readonly openScratch: () => Scratch;
  private readonly list: { readonly source: number; bytes: number }[] = [];

  constructor(covered: boolean, openScratch: () => Scratch) {
    this.buffer = new NameBuffer(openScratch, covered);
    this.openScratch = openScratch;
  }

  take(bytes: Uint8Array, source: number): void {
    addRun(this.list, bytes.length, source);
    this.buffer.take(bytes, source);
  }

  takeCovered(chunk: Chunk, source: number): void {
    this.buffer.takeCovered(chunk, source);
  }

  takeKnown(known: KnownNames): void {
    this.buffer.takeKnown(known);
  }

  /** Call it before the formats are written: they remove names from the buffer. */
  keep(): KeptNames {
    const blocks = this.buffer.covered.all();
    const covered = blocks.map(({ source, length }) => ({ source, bytes: length }));
    const runs = { list: this.list, covered };
    if (blocks.length === 0) return { ...NO_NAMES, runs };
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

/** Records what a sink of names receives. The list contains the lines, so it keeps only their sources, and the covered names. */
export class NameRecorder implements NameSink {
  private readonly list: { readonly source: number; bytes: number }[] = [];
  private readonly buffer: NameBuffer;

  constructor(covered: boolean, openScratch: () => Scratch) {
    this.buffer = new NameBuffer(openScratch, covered);
  }

  take({ length }: Uint8Array, source: number): void {
    addRun(this.list, length, source);
  }

  takeCovered(chunk: Chunk, source: number): void {
    this.buffer.takeCovered(chunk, source);
  }

  takeKnown(known: KnownNames): void {
    this.buffer.takeKnown(known);
  }

  /** Call it after the last chunk. */
  end(): { runs: SourceRuns; covered: Uint8Array } {
    const bytes = new ByteBuffer();
    const covered = this.buffer.covered.all().map(({ source, length, load }) => {
      bytes.append(load(), 0, length);
      return { source, bytes: length };
    });
    this.buffer.close();
    return { runs: { list: this.list, covered }, covered: bytes.view() };
  }
}

/** Puts what was recorded into a buffer of names. */
export function replayNames(
  { list: listRuns, covered: coveredRuns }: SourceRuns,
  { list, covered }: { readonly list: Uint8Array; readonly covered: Uint8Array },
  buffer: NameBuffer,
): void {
  let at = list.length - listRuns.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { source, bytes } of listRuns) buffer.take(list.subarray(at, (at += bytes)), source);
  at = 0;
  for (const { source, bytes } of coveredRuns) {
    const end = at + bytes;
    while (at < end) {
      const next = Math.min(end, lineEnd(covered, Math.min(at + PIECE, end - 1)) + 1);
      const names = covered.subarray(at, next);
      buffer.covered.addAll(names, countLineFeeds(names, 0, names.length), source);
      at = next;
    }
  }
}

/** Reads the popular names of a configuration, without a network. Rejects with a `CompilerError`. */
export async function readRanks(
  options: BuildOptions,
  host: Host,
): Promise<RankedNames | undefined> {
  const { project } = await openProject({ ...options, filter: [] }, host);
  const reader = new SourceReader(host, {
    configFolder: project.folder,
    cacheDir: options.cacheDir,
    offline: true,
  });
  try {
    return await reader.entries.ranks(nameLists(project.config.ranks));
  } finally {
    reader.close();
  }
}

/** What the guards compare a list with. Nothing, if it was not published or if its sources are unknown. */
export async function publishedRules(
  plan: ListPlan,
  session: BuildSession,
): Promise<PublishedRules> {
  const { host } = session;
  const path = plan.files[0]?.path;
  if (path === undefined || !(await host.exists(path))) return {};
  const last = await readLastPublish(path, host);
  // Where the state is lost, the file beside the list has what its sources block.
  const sources =
    last === undefined
      ? await session.publishedKinds(plan)
      : new Map(last.sources.map(({ source, kinds = {} }) => [source, kinds]));
  if (last === undefined && sources.size === 0) return {};
  const { blocked, freed } = await readMemory(path, host);
  return { path, sources, blockedLately: blocked.map(([name]) => name), freed };
}

/** The exceptions in a list. Undefined if it cannot be read. */
export async function exceptionsIn(path: string, host: Host): Promise<Set<string> | undefined> {
  const texts = new Set<string>();
  const take = (lines: Uint8Array): void =>
    eachLine(lines, (start, end) => {
      if (lines[start] === AT && lines[start + 1] === AT) texts.add(decodeUtf8(lines, start, end));
    });
  return await ifAvailable(async () => {
    await readLines(path, host, take);
    return texts;
  });
}
