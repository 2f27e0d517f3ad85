import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { scratchOf } from "../engine/scratch.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { type ListChange, type ListState, listChange } from "../explain/list-change.ts";
import type { Host } from "../host/host.ts";
import { shadowHost } from "../host/shadow-host.ts";
import { BuildRecord } from "../record/build-record.ts";
import { headerBytes } from "../record/record-file.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { withFiles } from "./kept-change.ts";
import type { ListPlan } from "./list-plan.ts";
import { type PlannedFiles, plannedFilesOf } from "./planned-files.ts";
import { type Draft, type PrepareOptions, prepare } from "./prepare.ts";
import { recordHeader } from "./record-header.ts";
import type { BuildSession } from "./session.ts";
import { NameRecorder, wantsCovered } from "./recorded-names.ts";
import { type FoundHold, readHold } from "./state/hold.ts";
import { publishedState } from "./state/published-build.ts";
import type { SavedBytes } from "./state/saved-plan.ts";

/** A draft in memory, with the bytes of its list. */
export interface DryRun extends Draft {
  readonly state: ListState;
  readonly header: RecordHeader;
  /** Everything needed to publish it later. */
  readonly saved: SavedBytes & Pick<ReturnType<NameRecorder["end"]>, "runs">;
}

/** Builds a list in memory without publishing it. Rejects with a `CompilerError`. */
export async function dryRun(
  plan: ListPlan,
  session: BuildSession,
  more: Pick<PrepareOptions, "allowPrivate" | "anyMayFail"> = {},
): Promise<DryRun> {
  const { host } = session;
  const bytes = new ByteBuffer();
  const frames = new ByteBuffer();
  const recorder = new NameRecorder(wantsCovered(plan.outputs), () => scratchOf(host));
  const sink = {
    write: (chunk: Uint8Array): void => void bytes.append(chunk, 0, chunk.length),
    writeRecord: (chunk: Uint8Array): void => void frames.append(chunk, 0, chunk.length),
    names: plan.outputs.length === 0 ? undefined : recorder,
  };
  const started = host.now().getTime();
  const draft = (await prepare(plan, session, sink, more))!;
  const seconds = (host.now().getTime() - started) / 1000;
  const header = recordHeader(plan.list.config, draft.compiled, seconds);
  draft.compiled.close();
  const framesEnd = frames.length;
  const end = headerBytes(header);
  frames.append(end, 0, end.length);
  const list = bytes.view();
  return {
    ...draft,
    state: { bytes: list, record: BuildRecord.read(frames.view()) },
    header,
    saved: { ...recorder.end(), list, frames: frames.view().subarray(0, framesEnd) },
  };
}

const NO_FILES: PlannedFiles = { files: [], violations: [] };

export interface PlannedChange {
  readonly file: string;
  /** The published list. */
  readonly old: ListState;
  readonly run: DryRun;
  readonly change: ListChange;
  /** A list that is held stays as it is. */
  readonly hold: FoundHold | undefined;
}

/**
 * Plans the lists of a session in order: the file of each, its draft, and what would change. The files of lists that would be published
 * are written to the shadow. Rejects with a `CompilerError`.
 */
export async function* planChanges(
  session: BuildSession,
  shadow: Host = shadowHost(session.host),
): AsyncGenerator<PlannedChange> {
  for (const plan of session.plans) {
    const [output] = plan.files;
    if (output === undefined)
      throw new CompilerError([
        errorOf("unknown-flag", "plan needs a file to compare with; remove -o -"),
      ]);
    const old = await publishedState(output.path, session.host);
    const hold = await readHold(output.path, session.host);
    const draft = await dryRun(plan, session);
    const rules = await listChange(old, draft.state);
    const isStopped = hold !== undefined || draft.violations.length > 0;
    const { files, violations } = isStopped
      ? NO_FILES
      : await plannedFilesOf(draft, session.options, shadow, session.host);
    const run = { ...draft, violations: [...draft.violations, ...violations] };
    yield { file: output.name, old, run, change: withFiles(rules, files), hold };
  }
}
