import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { allNames, someOf } from "../diagnostics/some-of.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { ArtifactWriter, type FileEntries, headOf } from "../formats/artifact-writer.ts";
import type { HeaderValues } from "../formats/header-template.ts";
import type { Loss } from "../formats/losses.ts";
import { ListModel, type ListShape } from "../formats/list-model.ts";
import type { NameSpool } from "../formats/name-spool.ts";
import { NameExpander } from "../kernel/name-expander.ts";
import type { Host } from "../host/host.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import { type PlannedArtifact, plannedFiles } from "./artifact-plan.ts";
import type { OutputFile } from "./output-file.ts";
import { PackedFiles, packedName } from "./packed-files.ts";
import { PartedFile } from "./parted-file.ts";
import type { WriteOutcome } from "./write.ts";
import { nextSerial } from "./zone-serial.ts";

/** For which a head has room where a file may have so many bytes. */
const MOST_ENTRIES = 9_999_999_999;

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

/** The lines that a file of so many entries begins with, without comment signs. */
export type HeadTexts = (values: HeaderValues) => readonly string[];

interface Written {
  readonly plan: PlannedArtifact;
  readonly writer: ArtifactWriter;
  readonly block: PartedFile;
  readonly allow: PartedFile | undefined;
}

/** What all formats are written from. */
interface WriteBench {
  readonly model: ListModel;
  readonly expander: NameExpander | undefined;
  readonly protectedNames: readonly string[];
  readonly head: HeadTexts;
  readonly builtAt: Date;
}

/** The list in other formats: written beside their places first, and put there when the list is. */
export class Artifacts {
  private readonly plans: readonly PlannedArtifact[];
  private readonly host: Host;
  private readonly minRules: number;
  private readonly written: Written[] = [];

  /** `minRules` is what each file must have at least. */
  constructor(plans: readonly PlannedArtifact[], minRules: number, host: Host) {
    this.plans = plans;
    this.minRules = minRules;
    this.host = host;
  }

  /** Returns why nothing may be published: something is lost that must not be, or a file blocks what it must not. */
  async write(
    spool: NameSpool,
    shape: ListShape,
    head: HeadTexts,
    builtAt: Date,
  ): Promise<Diagnostic[]> {
    if (this.plans.length === 0) return [];
    // The list may come from a file, and nobody has looked at its rules yet.
    if (spool.specials.some(({ text }) => /^(?:@@)?\//.test(text))) await loadRegex();
    const model = new ListModel(spool, shape);
    const expander = NameExpander.create();
    const { protectedNames } = shape;
    const bench = { model, expander, protectedNames, head, builtAt };
    for (const plan of this.plans) await this.writeOne(plan, bench);
    return this.written.flatMap((one) => refusals(one, model, this.minRules));
  }

  private async writeOne(
    plan: PlannedArtifact,
    { model, expander, protectedNames, head: texts, builtAt }: WriteBench,
  ): Promise<void> {
    const { host } = this;
    const { format, options, limits } = plan;
    const serial = await nextSerial(plan.path, builtAt, host);
    const foot = encodeUtf8((format.foot ?? []).map((line) => `${line}\n`).join(""));
    const head = (count: number, isTimeless = false): Uint8Array =>
      headOf(format, { lines: texts({ time: builtAt, count, isTimeless }), serial }, options);
    const ends = { foot, isCommaFirst: format.isCommaFirst === true };
    const block = new PartedFile(plan.path, ends, limits, host);
    await block.open();
    const allow =
      format.hasAllowFile === true ? new PartedFile(plan.allowPath, ends, limits, host) : undefined;
    const start = (file: PartedFile | undefined, count: number): void =>
      file?.start({ bytes: head(count), timeless: head(count, true) });
    const sinks = {
      begin: (entries: FileEntries): void => {
        start(block, entries.block);
        start(allow, entries.allow);
      },
      block: (bytes: Uint8Array, names: number): void => block.write(bytes, names),
      allow: (bytes: Uint8Array, names: number): void => allow?.write(bytes, names),
      // Of several policy zones the first that has a name decides.
      ...(format.hidesParents === true && {
        together: (names: number, bytes: number): void => block.keepTogether(names, bytes),
      }),
    };
    const { policy, isSorted } = plan;
    const how = { format, options, policy, isSorted, protectedNames };
    const writer = new ArtifactWriter(how, sinks, expander);
    this.written.push({ plan, writer, block, allow });
    await allow?.open();
    const files = allow === undefined ? 1 : 2;
    const bytes = plan.room.bytes - files * (head(MOST_ENTRIES).length + foot.length);
    writer.write(model, { rules: plan.room.rules, bytes });
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
      files: filesOf({ plan, writer, block, allow }, this.host).map(({ name }) => name),
      losses: writer.losses.all(),
      ...(leftOut.length > 0 && { leftOut }),
    };
  }

  /** Every file that was written. */
  get files(): OutputFile[] {
    return this.written.flatMap((written) => filesOf(written, this.host));
  }

  async close(): Promise<void> {
    for (const { block, allow } of this.written) {
      await allow?.close();
      await block.close();
    }
  }
}

/** Files by the names that people know them by: all lie where the first does. */
function beside(first: string, paths: readonly string[], host: Host): OutputFile[] {
  return paths.map((path) => ({
    path,
    name: host.path.join(host.path.dirname(first), host.path.basename(path)),
  }));
}

function filesOf({ plan, block, allow }: Written, host: Host): OutputFile[] {
  const files = [
    ...beside(plan.name, block.paths, host),
    ...beside(plan.allowName, allow?.paths ?? [], host),
  ];
  const packed = files.flatMap(({ path, name }) =>
    plan.packings.map((packing) => ({
      path: packedName(path, packing),
      name: packedName(name, packing),
    })),
  );
  return [...files, ...packed];
}

function refusals(
  { plan, writer, block }: Written,
  model: ListModel,
  minRules: number,
): Diagnostic[] {
  const losses = writer.losses.all();
  const parts = losses.map(({ reason, count }) => `${reason} ${numberText(count)}`);
  const lost = parts.length === 0 ? {} : { cause: `left out: ${parts.join(", ")}` };
  const name = printable(plan.name);
  const { blocked } = writer;
  const found: Diagnostic[] = [];
  if (blocked.length > 0) {
    const what =
      blocked.length === 1
        ? `${printable(blocked[0]!)}, which devices need and the list does not block`
        : `${countText(blocked.length, "name")} that devices need and the list does not block: ${someOf(blocked)}`;
    found.push(errorOf("blocks-protected", `${name} would block ${what}`, allNames(blocked)));
  }
  if (writer.isEmpty && model.isBlocking && losses.length + writer.leftOut.size > 0)
    found.push(errorOf("empty-output", `${name} would block nothing`, lost));
  else if (model.isBlocking && writer.names < Math.min(minRules, plan.room.rules) && minRules > 1)
    found.push(
      errorOf(
        "too-few-rules",
        `${name} would have ${numberText(writer.names)} names; at least ${numberText(minRules)} are expected`,
        lost,
      ),
    );
  if (writer.isTooSmall || block.isTorn)
    found.push(
      errorOf(
        "limit-too-small",
        `The exceptions in ${name} need more than \`${writer.isTooSmall ? "fit" : "split"}\` allows`,
      ),
    );
  if (plan.policy === "fail" && losses.length > 0)
    found.push(
      errorOf("format-loss", `${plan.formatName} cannot say everything: ${parts.join(", ")}`, {
        cause: `such as ${printable(losses[0]!.examples[0] ?? "", 80)}`,
      }),
    );
  return found;
}
