import type { CompileReport } from "../../engine/report.ts";
import { VERSION } from "../../diagnostics/version.ts";
import { type Host, HostError } from "../../host/host.ts";
import { StateFile } from "../../host/state-file.ts";
import type { FormatOutputReport } from "../../publish/format-outputs.ts";
import type { OutputFile } from "../../publish/output-file.ts";
import { newestRecord } from "../../record/kept-builds.ts";
import { journalPath } from "../../record/record-folder.ts";
import type { InputFile } from "../../sources/source-list.ts";
import { Conditions } from "./conditions.ts";
import { readHold } from "./hold.ts";
import type { BuildOptions } from "../build-options.ts";

export interface WrittenFile extends Partial<FormatOutputReport> {
  readonly file: string;
}

interface FileStamp {
  readonly path: string;
  readonly stamp: string | null;
}

/** The inputs and the result of a build. */
export interface CachedBuild {
  readonly version: string;
  readonly key: string;
  /** Digest of everything fetched from the web. */
  readonly web: string;
  readonly inputs: readonly FileStamp[];
  readonly outputs: readonly (OutputFile & { readonly stamp: string })[];
  /** Stamps of other lists that it was compared with. */
  readonly compared: readonly FileStamp[];
  /** The file of its record; null if none was requested. */
  readonly record: string | null;
  readonly report: CompileReport;
  /** The list and its additional formats, with their counts. */
  readonly written: readonly WrittenFile[];
  /** All published names, also of what is beside the outputs. */
  readonly names: readonly string[];
}

export interface BuildResult extends Pick<CachedBuild, "report" | "written" | "names"> {
  readonly inputs: readonly InputFile[];
  readonly web: string | undefined;
  readonly outputs: readonly OutputFile[];
  /** Paths of other lists that it was compared with, after their last write. */
  readonly compared: readonly string[];
}

/** If a file changed this shortly before it was read, it may change again without a new stamp. */
const TOO_FRESH_MS = 2000;

/**
 * The last build of one list: its key, the stamps of all files that it read or wrote, and its result. If all of them still match,
 * there is nothing to do. The key hashes the inputs of the plan, not the plan, so an unchanged build loads neither the
 * configuration parser nor the compiler.
 */
export class BuildCache {
  private readonly host: Host;
  private readonly file: StateFile<CachedBuild>;
  private readonly key: string;
  private readonly wantsRecord: boolean;
  private readonly started: number;

  private constructor(folder: string, key: string, wantsRecord: boolean, host: Host) {
    this.host = host;
    this.key = key;
    this.wantsRecord = wantsRecord;
    this.started = host.now().getTime();
    this.file = new StateFile(
      host.path.join(folder, `build-${key.slice(0, 16)}.json`),
      isCachedBuild,
      host,
    );
  }

  /** Undefined without a cache or a configuration file, and for builds that write or repeat a lock. */
  static async open(
    list: string | undefined,
    options: BuildOptions,
    host: Host,
  ): Promise<BuildCache | undefined> {
    const { cacheDir, frozen, update } = options;
    if (cacheDir === undefined || frozen || update !== undefined || options.config !== undefined)
      return undefined;
    try {
      const key = await keyOf(list, options, host);
      const wantsRecord = options.record && host.packFile !== undefined;
      return new BuildCache(host.path.resolve(host.cwd, cacheDir), key, wantsRecord, host);
    } catch (error) {
      if (error instanceof HostError) return undefined;
      throw error;
    }
  }

  /** The last build, if its result is still valid for the same web content. */
  async get(): Promise<CachedBuild | undefined> {
    const last = await this.file.read();
    if (last === undefined || last.version !== VERSION || last.key !== this.key) return undefined;
    for (const { path, stamp } of [...last.inputs, ...last.outputs, ...last.compared])
      if (((await this.host.stampOf(path))?.text ?? null) !== stamp) return undefined;
    const list = last.outputs[0]?.path;
    if (list !== undefined && (await this.host.exists(journalPath(list, this.host))))
      return undefined;
    // A held list says so.
    if (list !== undefined && (await readHold(list, this.host)) !== undefined) return undefined;
    // It says what the last build found.
    if ((await new Conditions(list, this.host).read()) === undefined) return undefined;
    // Rebuild if the record is missing: it was not requested then, or was deleted.
    if (this.wantsRecord && last.record !== (await this.recordOf(last.outputs))) return undefined;
    return last;
  }

  private async recordOf(outputs: readonly OutputFile[]): Promise<string | null> {
    const list = outputs[0]?.path;
    return list === undefined ? null : ((await newestRecord(list, this.host)) ?? null);
  }

  async put(build: BuildResult): Promise<void> {
    const { host, key, started } = this;
    const { web, report, written, names } = build;
    if (web === undefined) return;
    const isFresh = ({ stamp }: InputFile): boolean =>
      stamp !== undefined && started - stamp.changed < TOO_FRESH_MS;
    if (build.inputs.some(isFresh)) return;
    const inputs = build.inputs.map(({ path, stamp }) => ({ path, stamp: stamp?.text ?? null }));
    const outputs: (OutputFile & { stamp: string })[] = [];
    for (const output of build.outputs) {
      const stamp = await host.stampOf(output.path);
      if (stamp === undefined) return;
      outputs.push({ ...output, stamp: stamp.text });
    }
    const compared: FileStamp[] = [];
    for (const path of build.compared)
      compared.push({ path, stamp: (await host.stampOf(path))?.text ?? null });
    const record = this.wantsRecord ? await this.recordOf(outputs) : null;
    if (this.wantsRecord && record === null && outputs.length > 0) return;
    const known = { version: VERSION, key, web, inputs, outputs, compared, record };
    await this.file.tryReplace({ ...known, report, written, names });
  }
}

/** A digest, because the configuration may contain passwords. */
async function keyOf(list: string | undefined, options: BuildOptions, host: Host): Promise<string> {
  const { configPath, inputs, inputType, output, copyToRules, rulesDir } = options;
  const { cwd } = host;
  const path = host.path.resolve(cwd, configPath);
  const config =
    inputs.length > 0 ? { inputs, inputType } : new TextDecoder().decode(await host.readFile(path));
  const epoch = host.env["SOURCE_DATE_EPOCH"];
  // A guard that was overruled is checked again, even if nothing else changed.
  const { compat, accept } = options;
  const where = { cwd, path, output, copyToRules, rulesDir };
  const parts = { ...where, config, list, epoch, compat, accept };
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function isCachedBuild(value: unknown): value is CachedBuild {
  if (typeof value !== "object" || value === null) return false;
  const { web, inputs, outputs, compared, report, written, names } = value as Partial<CachedBuild>;
  const isReported = typeof report === "object" && Array.isArray(report.sources);
  const lists = [inputs, outputs, compared, written, names];
  return typeof web === "string" && lists.every(Array.isArray) && isReported;
}
