import { encodeUtf8 } from "../bytes/text.ts";
import { type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import { scratchOf } from "../engine/compile-options.ts";
import { type FileEntries, FormatWriter, headerBytes } from "../formats/format-writer.ts";
import type { HeaderValues } from "../formats/header.ts";
import { ListModel, type ListShape } from "../formats/list-model.ts";
import type { NameBuffer } from "../formats/names.ts";
import type { Host } from "../host/host.ts";
import { NameExpander } from "../kernel/names.ts";
import { isExpression } from "../meaning/line.ts";
import { type RankedNames, rankedInOrder } from "../meaning/ranked-names.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import { CdbRecords, CdbWriter, dnsdistLua } from "../formats/cdb.ts";
import { ListFile, type OutputFile } from "./list-file.ts";
import type { FileSet } from "./file-set.ts";
import { PackedFiles, withPacked } from "./manifest.ts";
import { type OutputPlan, luaName, plannedFiles } from "./output-plan.ts";
import { type PartHeader, type PartLayout, SplitFile } from "./split-file.ts";
import { StableFiles } from "./stable-files.ts";
import { nextSerial, writeUpdates } from "./zone-updates.ts";
import type { FormatOutputReport, WriteOutcome } from "../documents/facts.ts";

/** Returns the header lines of a file, without comment signs. */
type HeaderBuilder = (values: HeaderValues) => readonly string[];

interface Written {
  readonly plan: OutputPlan;
  readonly writer: FormatWriter;
  readonly block: BlockFiles;
  readonly allow: SplitFile | undefined;
  readonly known: NameBuffer["known"];
  entries?: FileEntries;
}

/** What all formats are written from. */
interface WriteContext {
  readonly model: ListModel;
  readonly expander: NameExpander;
  readonly protectedNames: readonly string[];
  /** Popular names, for outputs that keep rules for them first. */
  readonly ranks: RankedNames | undefined;
  readonly tiers: ListShape["tiers"];
  readonly known: NameBuffer["known"];
  readonly header: HeaderBuilder;
  readonly builtAt: Date;
}

/** The list in other formats. The files are written under temporary names, and published with the list. */
export class FormatOutputs {
  private readonly plans: readonly OutputPlan[];
  private readonly host: Host;
  private readonly minRules: number;
  private readonly written: Written[] = [];

  /** `minRules` is the minimum for each file. */
  constructor(plans: readonly OutputPlan[], minRules: number, host: Host) {
    this.plans = plans;
    this.minRules = minRules;
    this.host = host;
  }

  /** Returns the violations that forbid publishing: losses with `on_loss: fail`, blocked protected names and the like. */
  async write(
    buffer: NameBuffer,
    shape: ListShape,
    header: HeaderBuilder,
    builtAt: Date,
  ): Promise<Diagnostic[]> {
    if (this.plans.length === 0) return [];
    // With `apply`, the list comes from a file, and its expressions were not compiled yet.
    if (buffer.specials.some(({ text }) => isExpression(text))) await loadRegex();
    const expander = new NameExpander();
    const { protectedNames, popular, tiers } = shape;
    const ranks = popular && rankedInOrder(popular);
    const canaries = shape.hasCanary === true ? 1 : 0;
    const found: Diagnostic[] = [];
    const model = new ListModel(buffer, shape);
    const { known } = buffer;
    const context = { model, expander, protectedNames, ranks, tiers, known, header, builtAt };
    for (const plan of this.plans) {
      const one = await this.writeOne(plan, context);
      found.push(...violations(one, model, this.minRules, canaries));
    }
    return found;
  }

  private async writeOne(
    plan: OutputPlan,
    { model, expander, protectedNames, ranks, tiers, known, header: texts, builtAt }: WriteContext,
  ): Promise<Written> {
    const { host } = this;
    const { format, options, limits } = plan;
    const serial = await nextSerial(plan, builtAt, host);
    const footer = encodeUtf8((format.footer ?? []).map((line) => `${line}\n`).join(""));
    const opening = encodeUtf8(format.exactOpening === undefined ? "" : `${format.exactOpening}\n`);
    const header = (count: number): PartHeader => {
      const bytes = (isTimeless: boolean): Uint8Array => {
        const lines = texts({ time: builtAt, count, isTimeless });
        return headerBytes(format, { lines, serial }, options);
      };
      return { bytes: bytes(false), timeless: bytes(true) };
    };
    const layout = { footer, isCommaFirst: format.isCommaFirst === true, limits };
    const block = blockFilesOf(plan, layout, host);
    await block.open();
    const allow =
      format.hasAllowFile === true ? new SplitFile(plan.allowPath, layout, host) : undefined;
    const sinks = {
      begin: (entries: FileEntries): void => {
        one.entries = entries;
        startBlock(block, header, entries);
        allow?.start(header(entries.allow));
      },
      beginExact: (): void => {
        for (const file of [block, allow])
          if (file instanceof SplitFile) file.startSection(opening);
      },
      block: (bytes: Uint8Array, names: number): void => block.write(bytes, names),
      allow: (bytes: Uint8Array, names: number): void => allow?.write(bytes, names),
      // Resolvers use the first policy zone that has a name, so related names must not be split.
      ...(format.hidesParents === true &&
        block instanceof SplitFile && {
          keepTogether: (names: number, bytes: number): void => block.keepTogether(names, bytes),
        }),
    };
    const { policy, isSorted } = plan;
    const open = [...protectedNames, ...pageOf(plan)];
    const how = { format, options, policy, isSorted, protectedNames: open, ranks, tiers, known };
    const writer = new FormatWriter(how, sinks, expander);
    const one: Written = { plan, writer, block, allow, known };
    this.written.push(one);
    await allow?.open();
    const files = allow === undefined ? 1 : 2;
    const frame = header(MOST_ENTRIES).bytes.length + opening.length + footer.length;
    const bytes = plan.sizeLimit.bytes - files * frame;
    writer.write(model, { rules: plan.sizeLimit.rules, bytes });
    finishBlock(block, plan);
    return one;
  }

  /** Hands all files to a set. */
  async stage(sources: readonly string[], set: FileSet): Promise<FormatOutputReport[]> {
    // In parallel, because most of the time is spent waiting for the disk.
    const ends = await Promise.allSettled(
      this.written.map(async (one) => await this.stageOne(one, sources, set)),
    );
    // All have settled, so no write continues in the background.
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  }

  /** Notes what is published. */
  async settle(): Promise<void> {
    for (const { plan, block, allow } of this.written)
      for (const file of [block, allow]) {
        if (file instanceof SplitFile || file instanceof StableFiles) await file.settle();
        if (file !== undefined) await new PackedFiles(file.path, this.host).settle(plan.packings);
      }
  }

  private async stageOne(
    one: Written,
    sources: readonly string[],
    set: FileSet,
  ): Promise<FormatOutputReport> {
    const { host } = this;
    const { plan, writer, block, allow } = one;
    const outcomes = [await block.stage(set), await allow?.stage(set)];
    const outcome = outcomes.includes("written") ? "written" : "unchanged";
    const updates =
      plan.updates !== undefined && outcome === "written"
        ? await writeUpdates(plan, set, host, () => scratchOf(host))
        : undefined;
    const taken = new Set(this.plans.flatMap(plannedFiles).map(({ path }) => path));
    for (const file of [block, allow])
      if (file !== undefined)
        await new PackedFiles(file.path, host).stage(file.paths, plan.packings, taken, set);
    const leftOut = [...writer.leftOut].map(([source, names]) => ({
      label: sources[source] ?? "",
      names,
    }));
    return {
      file: plan.name,
      format: plan.formatName,
      outcome,
      names: writer.names,
      bytes: block.bytes,
      parts: block.paths.length,
      ...(allow && { allowFile: plan.allowName }),
      files: filesOf(one, host).map(({ name }) => name),
      losses: writer.losses.all(),
      ...queriesIn(one),
      ...(updates !== undefined && { updates }),
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

/** How many queries of the logs it blocks, if that was counted. */
function queriesIn({ writer, known }: Written): Pick<FormatOutputReport, "queries"> {
  if (writer.logged === undefined || known?.logged === undefined) return {};
  const { queries: all, blocked } = known.logged;
  return { queries: { all, list: blocked, file: writer.logged.queries } };
}

/** Files with the names that users know: all are in the folder of the first. */
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
  const lua = block instanceof CdbFile ? beside(plan.name, [luaName(block.path)], host) : [];
  return [...withPacked(files, plan.packings), ...lua];
}

function violations(
  { plan, writer, block }: Written,
  model: ListModel,
  minRules: number,
  canaries: number,
): Diagnostic[] {
  const losses = writer.losses.all();
  const parts = losses.map(({ reason, count }) => `${reason} ${numberText(count)}`);
  const cause = parts.length === 0 ? {} : { cause: `left out: ${parts.join(", ")}` };
  const name = printable(plan.name);
  const page = pageOf(plan).find((one) => writer.blocked.includes(one));
  const blocked = writer.blocked.filter((one) => one !== page);
  const found: Diagnostic[] = [];
  if (page !== undefined)
    found.push(
      errorOf("blocks-protected", `${name} would block ${page}, the page that it answers with`),
    );
  if (blocked.length > 0) {
    const what =
      blocked.length === 1
        ? `${printable(blocked[0]!)}, which devices need and the list does not block`
        : `${countText(blocked.length, "name")} that devices need and the list does not block: ${someOf(blocked)}`;
    found.push(errorOf("blocks-protected", `${name} would block ${what}`, { all: blocked }));
  }
  const isEmpty = writer.blocks <= canaries;
  if (isEmpty && model.isBlocking && losses.length + writer.leftOut.size > 0)
    found.push(errorOf("empty-output", `${name} would block nothing`, cause));
  else if (
    model.isBlocking &&
    writer.names < Math.min(minRules, plan.sizeLimit.rules) &&
    minRules > 1
  )
    found.push(
      errorOf(
        "too-few-rules",
        `${name} would have ${countText(writer.names, "name")}; at least ${numberText(minRules)} are expected`,
        cause,
      ),
    );
  if (block instanceof CdbFile && block.isTooLarge)
    found.push(errorOf("database-too-large", `${name} would have more than 4 GiB`));
  if (writer.isTooSmall || (block instanceof SplitFile && block.isTorn))
    found.push(
      errorOf(
        "limit-too-small",
        `The ${writer.lacksOwn ? "names of local files" : "exceptions"} in ${name} exceed the limit of \`${writer.isTooSmall ? "fit" : "split"}\``,
      ),
    );
  if (block.paths.length > plan.mostFiles)
    found.push(
      errorOf(
        "limit-too-small",
        `${name} would have ${countText(block.paths.length, "file")}; ${plan.service ?? "`split`"} has room for ${numberText(plan.mostFiles)}`,
        { hint: roomHint(plan) },
      ),
    );
  if (plan.policy === "fail" && losses.length > 0)
    found.push(
      errorOf("format-loss", `${plan.formatName} cannot express all rules: ${parts.join(", ")}`, {
        cause: `for example ${printable(losses[0]!.examples[0] ?? "", 80)}`,
      }),
    );
  return found;
}

/** The name of the page that an output answers with, if it has one. */
function pageOf({ options: { answer } }: OutputPlan): readonly string[] {
  return answer.kind === "cname" ? [answer.name] : [];
}

function roomHint({ limits, mostFiles }: OutputPlan): string {
  const rules = limits.names * mostFiles;
  const example = rules === Infinity ? "" : `: { max_rules: ${rules} }`;
  return `Use fewer sources, or \`fit${example}\`, which keeps the rules of earlier sources`;
}

/** The header is measured with this count, so that it fits whatever the final count is. */
const MOST_ENTRIES = 9_999_999_999;

/** The files of what an output blocks: in parts, in parts that keep their names, or as a database. */
type BlockFiles = SplitFile | StableFiles | CdbFile;

function blockFilesOf(plan: OutputPlan, layout: PartLayout, host: Host): BlockFiles {
  const { format, list, path, isStable } = plan;
  if (format.isDatabase === true) return new CdbFile(path, list, host);
  return isStable ? new StableFiles(path, layout, host) : new SplitFile(path, layout, host);
}

/** Begins the files with a header. A database has none. */
function startBlock(
  block: BlockFiles,
  header: (entries: number) => PartHeader,
  entries: FileEntries,
): void {
  if (block instanceof StableFiles) block.start(header, MOST_ENTRIES);
  else if (block instanceof SplitFile) block.start(header(entries.block));
}

function finishBlock(block: BlockFiles, plan: OutputPlan): void {
  if (block instanceof StableFiles) block.finish(plan.mostFiles);
  if (block instanceof CdbFile) block.finish();
}

/** The list as a constant database, and the Lua file for it. */
class CdbFile {
  readonly path: string;
  readonly paths: readonly string[];
  private readonly host: Host;
  private readonly list: string;
  private readonly file: ListFile;
  private readonly lua: ListFile;
  private writer: CdbWriter | undefined;
  private records: CdbRecords | undefined;

  constructor(path: string, list: string, host: Host) {
    this.path = path;
    this.paths = [path];
    this.list = list;
    this.host = host;
    this.file = new ListFile(path, host);
    this.lua = new ListFile(luaName(path), host);
  }

  get bytes(): number {
    return this.writer?.bytes ?? 0;
  }

  /** Whether the names need more than 4 GiB. */
  get isTooLarge(): boolean {
    return this.writer?.isFull === true;
  }

  async open(): Promise<void> {
    await this.file.open();
    await this.lua.open();
    this.writer = new CdbWriter(this.file, () => scratchOf(this.host));
    this.records = new CdbRecords(this.writer);
    this.lua.write(encodeUtf8(dnsdistLua([this.list])));
  }

  write(lines: Uint8Array): void {
    this.records!.add(lines);
  }

  /** Completes the database. */
  finish(): void {
    this.writer!.finish();
  }

  async stage(set: FileSet): Promise<WriteOutcome> {
    const outcomes = [await this.file.stageLater(set), await this.lua.stage(set)];
    return outcomes.includes("written") ? "written" : "unchanged";
  }

  async close(): Promise<void> {
    this.writer?.close();
    await this.lua.close();
    await this.file.close();
  }
}
