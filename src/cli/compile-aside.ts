import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { artifactPlans, blocksNamesAlone } from "../publish/artifact-plan.ts";
import type { CompiledList } from "../engine/compile.ts";
import type { CompileOptions } from "../engine/compile-options.ts";
import type { Lockfile } from "../build/lockfile.ts";
import { recordHeader } from "../build/record-header.ts";
import { scratchOf } from "../engine/scratch.ts";
import type { ListState } from "../explain/list-change.ts";
import type { Host } from "../host/host.ts";
import { BuildRecord } from "../record/build-record.ts";
import { headerBytes } from "../record/record-file.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { compileWithProgress } from "./compile-with-progress.ts";
import type { ConfigInPlace } from "./config-of.ts";
import { LockInPlace } from "./lock-in-place.ts";
import type { Options } from "./flags/options.ts";
import { type SpoolRuns, SpoolTape } from "./spool-tape.ts";
import type { Talk } from "./output/talk.ts";

/** A list that was compiled and not published. */
export interface CompiledAside {
  readonly fresh: ListState;
  readonly compiled: CompiledList;
  readonly list: Uint8Array;
  readonly frames: Uint8Array;
  readonly header: RecordHeader;
  readonly lock: Lockfile | undefined;
  /** Names that sources have and parents in the list cover, and which source everything is from. */
  readonly covered: Uint8Array;
  readonly runs: SpoolRuns;
}

/** Compiles into memory. */
export async function compileAside(
  configured: ConfigInPlace,
  options: Options & Pick<CompileOptions, "allowPrivate" | "published">,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompiledAside> {
  const lock = await LockInPlace.open(configured, options, host, talk);
  const bytes = new ByteBuffer();
  const frames = new ByteBuffer();
  const plans = artifactPlans(configured.config, "", { ...host, cwd: "" }, [], configured.plugins);
  const tape = new SpoolTape(plans.some(blocksNamesAlone), () => scratchOf(host));
  const sinks = {
    spool: plans.length === 0 ? undefined : tape,
    list: (piece: Uint8Array): void => void bytes.append(piece, 0, piece.length),
    record: (piece: Uint8Array): void => void frames.append(piece, 0, piece.length),
  };
  const wish = { ...options, ...lock.wish, isKnown: undefined };
  const started = host.now().getTime();
  const compiled = await compileWithProgress(configured, sinks, wish, host, talk, signal);
  await lock.check(compiled);
  const seconds = (host.now().getTime() - started) / 1000;
  const header = recordHeader(configured.config, compiled, seconds);
  compiled.close();
  const framesEnd = frames.length;
  const end = headerBytes(header);
  frames.append(end, 0, end.length);
  const record = BuildRecord.read(frames.view());
  return {
    fresh: { bytes: bytes.view(), record },
    compiled,
    ...tape.end(),
    list: bytes.view(),
    frames: frames.view().subarray(0, framesEnd),
    header,
    lock: await lockToWrite(configured, lock, compiled),
  };
}

/** One of several lists shares its lock with the others. */
async function lockToWrite(
  { whole }: ConfigInPlace,
  lock: LockInPlace,
  compiled: CompiledList,
): Promise<Lockfile | undefined> {
  const own = await lock.renewed(compiled);
  return own === undefined || whole.lists === undefined ? own : lock.joined([own]);
}
