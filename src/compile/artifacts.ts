import { basename, dirname, join } from "node:path";
import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { ArtifactWriter, headOf } from "../formats/artifact-writer.ts";
import type { Loss } from "../formats/losses.ts";
import { ListModel } from "../formats/list-model.ts";
import type { NameSpool } from "../formats/name-spool.ts";
import { NameExpander } from "../kernel/name-expander.ts";
import type { Host } from "../host/host.ts";
import { type PlannedArtifact, plannedFiles } from "./artifact-plan.ts";
import type { OutputFile } from "./last-build.ts";
import { PackedFiles, packedName } from "./packed-files.ts";
import { PartedFile } from "./parted-file.ts";
import type { WriteOutcome } from "./write.ts";
import { nextSerial } from "./zone-serial.ts";

/** What became of a further file. */
export interface ArtifactReport {
  readonly file: string;
  readonly format: string;
  readonly outcome: WriteOutcome;
  readonly names: number;
  readonly bytes: number;
  /** How many files it is split into. */
  readonly parts: number;
  readonly allowFile?: string;
  /** All of them, by name. */
  readonly files: readonly string[];
  readonly losses: readonly Loss[];
  /** Names that there was no room for, by source. */
  readonly leftOut?: readonly { readonly source: string; readonly names: number }[];
}

interface Written {
  readonly plan: PlannedArtifact;
  readonly writer: ArtifactWriter;
  readonly block: PartedFile;
  readonly allow: PartedFile | undefined;
}

/** The list in other formats: written beside their places first, and put there when the list is. */
export class Artifacts {
  private readonly plans: readonly PlannedArtifact[];
  private readonly host: Host;
  private readonly written: Written[] = [];

  constructor(plans: readonly PlannedArtifact[], host: Host) {
    this.plans = plans;
    this.host = host;
  }

  /** Returns why nothing may be published, if something is lost that must not be. */
  async write(
    spool: NameSpool,
    isMinimal: boolean,
    head: readonly string[],
    builtAt: Date,
  ): Promise<Diagnostic[]> {
    if (this.plans.length === 0) return [];
    const model = new ListModel(spool, isMinimal);
    const expander = NameExpander.create();
    for (const plan of this.plans) await this.writeOne(plan, model, head, builtAt, expander);
    return this.written.flatMap(refusals);
  }

  private async writeOne(
    plan: PlannedArtifact,
    model: ListModel,
    lines: readonly string[],
    builtAt: Date,
    expander: NameExpander | undefined,
  ): Promise<void> {
    const { host } = this;
    const { format, options, limits } = plan;
    const serial = await nextSerial(plan.path, builtAt, host);
    const foot = encodeUtf8((format.foot ?? []).map((line) => `${line}\n`).join(""));
    const head = headOf(format, { lines, serial }, options);
    const ends = { head, foot, isCommaFirst: format.isCommaFirst === true };
    const block = new PartedFile(plan.path, ends, limits, host);
    await block.open();
    const allow =
      format.hasAllowFile === true ? new PartedFile(plan.allowPath, ends, limits, host) : undefined;
    const sinks = {
      block: (bytes: Uint8Array, names: number): void => block.write(bytes, names),
      allow: (bytes: Uint8Array, names: number): void => allow?.write(bytes, names),
    };
    const writer = new ArtifactWriter(format, options, plan.policy, sinks, expander);
    this.written.push({ plan, writer, block, allow });
    await allow?.open();
    writer.write(model, { ...plan.room, bytes: plan.room.bytes - ends.head.length - foot.length });
  }

  /** Puts everything in its place. */
  async publish(sources: readonly string[]): Promise<ArtifactReport[]> {
    // All at once: most of it is waiting for the disk.
    const ends = await Promise.allSettled(
      this.written.map(async (one) => await this.publishOne(one, sources)),
    );
    // None is left to go on by itself.
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  }

  private async publishOne(
    { plan, writer, block, allow }: Written,
    sources: readonly string[],
  ): Promise<ArtifactReport> {
    const outcomes = [await block.publish(), await allow?.publish()];
    const taken = new Set(this.plans.flatMap(plannedFiles).map(({ path }) => path));
    for (const file of [block, allow])
      if (file !== undefined)
        await new PackedFiles(file.path, this.host).write(file.paths, plan.packings, taken);
    const leftOut = [...writer.leftOut].map(([source, names]) => ({
      source: sources[source] ?? "",
      names,
    }));
    return {
      file: plan.name,
      format: plan.formatName,
      outcome: outcomes.includes("written") ? "written" : "unchanged",
      names: writer.names,
      bytes: block.bytes,
      parts: block.paths.length,
      ...(allow && { allowFile: plan.allowName }),
      files: filesOf({ plan, writer, block, allow }).map(({ name }) => name),
      losses: writer.losses.all(),
      ...(leftOut.length > 0 && { leftOut }),
    };
  }

  /** Every file that was written. */
  get files(): OutputFile[] {
    return this.written.flatMap(filesOf);
  }

  async close(): Promise<void> {
    for (const { block, allow } of this.written) {
      await allow?.close();
      await block.close();
    }
  }
}

/** Files by the names that people know them by: all lie where the first does. */
function beside(first: string, paths: readonly string[]): OutputFile[] {
  return paths.map((path) => ({ path, name: join(dirname(first), basename(path)) }));
}

function filesOf({ plan, block, allow }: Written): OutputFile[] {
  const files = [...beside(plan.name, block.paths), ...beside(plan.allowName, allow?.paths ?? [])];
  const packed = files.flatMap(({ path, name }) =>
    plan.packings.map((packing) => ({
      path: packedName(path, packing),
      name: packedName(name, packing),
    })),
  );
  return [...files, ...packed];
}

function refusals({ plan, writer }: Written): Diagnostic[] {
  const losses = writer.losses.all();
  if (plan.policy !== "fail" || losses.length === 0) return [];
  const parts = losses.map(({ reason, count }) => `${reason} ${numberText(count)}`);
  const [first] = losses;
  return [
    errorOf("format-loss", `${plan.formatName} cannot say everything: ${parts.join(", ")}`, {
      cause: `such as ${printable(first!.examples[0] ?? "", 80)}`,
    }),
  ];
}
