import { resolve } from "node:path";
import { ByteBuffer } from "../../bytes/byte-buffer.ts";
import type { CompiledList } from "../../compile/compile.ts";
import type { Lockfile } from "../../compile/lockfile.ts";
import { recordHeader } from "../../compile/record-header.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { type ListChange, type ListState, isSame, listChange } from "../../explain/list-change.ts";
import type { Host } from "../../host/host.ts";
import { BuildRecord } from "../../record/build-record.ts";
import { headerBytes } from "../../record/record-file.ts";
import type { RecordHeader } from "../../record/record-format.ts";
import { changeJson } from "../change-text.ts";
import { compileWithProgress } from "../compile-with-progress.ts";
import { type ConfigInPlace, configOf } from "../config-of.ts";
import { buildAt } from "../last-build.ts";
import { listFiles } from "../list-files.ts";
import { LockInPlace } from "../lock-in-place.ts";
import type { Options } from "../options.ts";
import { planMarkdown, planText } from "../plan-text.ts";
import { refusalsOf } from "../refusals-of.ts";
import { digestAt, savePlan } from "../saved-plan.ts";
import { sendToOutput } from "../send-to-output.ts";
import type { Talk } from "../talk.ts";
import type { Command } from "./registry.ts";

/** What the next publish would change, and whether a guard would refuse it. Nothing is published. */
export const planCommand: Command = async (options, host, talk, signal) => {
  const configured = await configOf(options, host, talk);
  const files = listFiles(configured.config.name, options, host);
  const [output] = files;
  if (output === undefined)
    throw new CompilerError([errorOf("unknown-flag", "plan compares with a file; leave -o - out")]);
  const was = await Promise.all(files.map(({ path }) => digestAt(path, host)));
  const old = await publishedState(output.path, host);
  const aside = await compileAside(configured, options, host, talk, signal);
  const { fresh, compiled } = aside;
  const { report, diagnostics: warnings } = compiled;
  const change = await listChange(old, fresh);
  const refused = await refusalsOf(configured.config, compiled, output.path, options, host);
  const plan = { file: output.name, report, change, refused, warnings };
  const text = options.isJson
    ? `${JSON.stringify({ file: output.name, report, refused, ...changeJson(change) })}\n`
    : options.args.switches.has("markdown")
      ? planMarkdown(plan)
      : planText(plan, talk.dataStyle);
  await sendToOutput(text, host);
  const saved = options.args.values.get("save")?.[0];
  if (saved !== undefined) {
    const places = files.map((file, index) => ({ ...file, was: was[index]! }));
    const rest = {
      files: places,
      record: aside.header,
      lock: aside.lock,
      folder: configured.folder,
    };
    const { sources: _sources, ...config } = configured.config;
    await savePlan(
      saved,
      {
        report,
        refused,
        warnings,
        config,
        isMinimal: compiled.isMinimal,
        rulesFolder: resolve(host.cwd, options.rulesFolder),
        ...rest,
      },
      aside,
      host,
    );
  }
  return exitOf(change, refused);
};

function exitOf(change: ListChange, refused: readonly Diagnostic[]): Exit {
  if (refused.length > 0) return Exit.Guard;
  return isSame(change) ? Exit.Done : Exit.Changes;
}

/** The list that is published now; an empty one when there is none. */
async function publishedState(path: string, host: Host): Promise<ListState> {
  const { list: bytes = new Uint8Array(0), record } = await buildAt(path, host);
  return { bytes, record: record?.header.bytes === bytes.length ? record : undefined };
}

interface CompiledAside {
  readonly fresh: ListState;
  readonly compiled: CompiledList;
  readonly list: Uint8Array;
  readonly frames: Uint8Array;
  readonly header: RecordHeader;
  readonly lock: Lockfile | undefined;
}

/** Compiles into memory. */
async function compileAside(
  configured: ConfigInPlace,
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompiledAside> {
  const lock = await LockInPlace.open(configured, options, host);
  const bytes = new ByteBuffer();
  const frames = new ByteBuffer();
  const sinks = {
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
    list: bytes.view(),
    frames: frames.view().subarray(0, framesEnd),
    header,
    lock: await lock.renewed(compiled),
  };
}
