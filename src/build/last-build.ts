import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { ArtifactReport } from "../publish/artifacts.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { CompileReport } from "../engine/report.ts";
import { VERSION } from "../engine/version.ts";

/** What a build said, to be said again when nothing has changed. */
export interface BuildAnswer {
  readonly report: CompileReport;
  readonly diagnostics: readonly Diagnostic[];
  /** Everything that belongs to the published list, by name: its files, the manifest, the folder of patches. */
  readonly files?: readonly string[];
  /** The list and its further formats, with their figures. */
  readonly written?: readonly WrittenFile[];
}

export interface WrittenFile extends Partial<ArtifactReport> {
  readonly file: string;
}

export interface LastBuild extends BuildAnswer {
  readonly version: string;
  /** Digest of everything that the list depends on but the files; the text itself may hold passwords. */
  readonly question: string;
  /** What told everything from the web from any other state; null where nothing did. */
  readonly web: string | null;
  readonly inputs: readonly { readonly path: string; readonly stamp: string | null }[];
  readonly outputs: readonly (OutputFile & { readonly stamp: string })[];
  /** Other lists that it was compared with, as they were then. */
  readonly compared: readonly { readonly path: string; readonly stamp: string | null }[];
}

/** A file that was changed this short before it was read may be changed again without its stamp telling. */
const TOO_FRESH_MS = 2000;

/**
 * Remembers the last build: what was asked, the stamps of all files that were read and written, and what was said. When
 * all of it is the same again, there is nothing to do. `question` is everything that the list depends on but the files.
 */
export class LastBuilds {
  private readonly host: Host;
  private readonly file: string;
  private readonly question: string;
  private readonly started: number;

  private constructor(folder: string, question: string, host: Host) {
    this.host = host;
    this.question = question;
    this.started = host.now().getTime();
    this.file = host.path.join(folder, `build-${question.slice(0, 16)}.json`);
  }

  static async of(folder: string, question: string, host: Host): Promise<LastBuilds> {
    const { createHash } = await import("node:crypto");
    const digest = createHash("sha256").update(question).digest("hex");
    return new LastBuilds(folder, digest, host);
  }

  /** What the last build said, if it would come out the same with the same things from the web. Whatever is wrong with its record, it then never was. */
  async recall(): Promise<LastBuild | undefined> {
    const last = await this.read();
    if (last === undefined || last.version !== VERSION || last.question !== this.question)
      return undefined;
    for (const { path, stamp } of [...last.inputs, ...last.outputs, ...last.compared])
      if (((await this.host.stampOf(path))?.text ?? null) !== stamp) return undefined;
    return last;
  }

  async remember(
    { report, diagnostics, written: files = [] }: BuildAnswer,
    { inputs, web }: { readonly inputs: readonly InputFile[]; readonly web: string | undefined },
    outputs: readonly OutputFile[],
    /** Paths of other lists that it was compared with, which nobody is writing any more. */
    others: readonly string[] = [],
  ): Promise<void> {
    const { host, question, started } = this;
    if (web === undefined) return;
    const read: { path: string; stamp: string | null }[] = [];
    for (const input of inputs) {
      const { path, stamp } = input;
      if (stamp !== undefined && started - stamp.changed < TOO_FRESH_MS) return;
      read.push({ path, stamp: stamp?.text ?? null });
    }
    const written: (OutputFile & { stamp: string })[] = [];
    for (const output of outputs) {
      const stamp = await host.stampOf(output.path);
      if (stamp === undefined) return;
      written.push({ ...output, stamp: stamp.text });
    }
    const compared: { path: string; stamp: string | null }[] = [];
    for (const path of others)
      compared.push({ path, stamp: (await host.stampOf(path))?.text ?? null });
    const build = {
      version: VERSION,
      question,
      web: web ?? null,
      inputs: read,
      outputs: written,
      compared,
      report,
      diagnostics,
      written: files,
    };
    await this.write(JSON.stringify(build));
  }

  private async read(): Promise<LastBuild | undefined> {
    try {
      const record: unknown = JSON.parse(decodeUtf8(await this.host.readFile(this.file)));
      return isBuild(record) ? record : undefined;
    } catch (error) {
      if (error instanceof HostError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** A build that cannot be remembered is no worse for it. */
  private async write(text: string): Promise<void> {
    try {
      await writeWhole(this.file, this.host, (file) => file.write(encodeUtf8(text)));
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }
}

/** Somebody else may have written to it. */
function isBuild(record: unknown): record is LastBuild {
  if (typeof record !== "object" || record === null) return false;
  const { inputs, outputs, compared, report, diagnostics, written } = record as Partial<LastBuild>;
  const isReported = typeof report === "object" && Array.isArray(report.sources);
  return [inputs, outputs, compared, diagnostics, written].every(Array.isArray) && isReported;
}
