import type { Explanation } from "../documents/facts.ts";
import { ByteBuffer } from "../bytes/text.ts";
import { type Config, type WrittenConfig, listsOf } from "../config/lists.ts";
import { CODES } from "../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, someOf } from "../diagnostics/text.ts";
import { type EngineOptions, scratchOf } from "../engine/compile-options.ts";
import { buildTime, compileList } from "../engine/compile.ts";
import { planOf } from "../engine/plan.ts";
import type { CompiledList } from "../engine/report.ts";
import { NO_PLUGINS, type Plugins } from "../engine/plugins.ts";
import { ListRules } from "../explain/list-rules.ts";
import { SourceLines } from "../explain/source-lines.ts";
import { asciiName } from "../explain/traffic.ts";
import { MappedNames, explainNames } from "../explain/why.ts";
import { listFeatures } from "../features/registry.ts";
import type { Host } from "../host/host.ts";
import { shadowHost } from "../host/memory-files.ts";
import { type OutputPlan, planOutputs } from "../publish/output-plan.ts";
import { patchLines } from "../publish/patches.ts";
import { BuildRecord } from "../record/build-record.ts";
import { headerBytes } from "../record/record-file.ts";
import { collectCopies } from "../sources/copies.ts";
import { recordHeader } from "./draft/prepare.ts";
import { NameRecorder, wantsCovered } from "./draft/recorded-names.ts";
import { projectOf } from "./plan/project.ts";
import { type TrialDraft, publishTrial, relativeName } from "./publish/planned-files.ts";

export interface CompiledInMemory extends CompiledList {
  /** The bytes of the list file. */
  readonly bytes: Uint8Array;
  /** The files of the configuration's `outputs`. */
  readonly outputs: readonly OutputInMemory[];
  /** Answers questions about names. */
  readonly answers: AnswersInMemory;
}

export interface InMemoryOptions extends EngineOptions {
  /** The name of the list to compile, for a configuration with `lists`. Its cover is not checked. */
  readonly list?: string | undefined;
}

/** Compiles one list of a configuration without writing files. Rejects with a `CompilerError`. */
export async function compileInMemory(
  config: WrittenConfig,
  { list: wanted, ...options }: InMemoryOptions,
  host: Host,
): Promise<CompiledInMemory> {
  const { plugins: modules = [] } = config;
  if (modules.length > 0 && options.plugins === undefined)
    throw new CompilerError([
      errorOf("plugins-off", `The configuration has plugins: ${someOf(modules)}`, {
        hint: "Plugins are programs; if you trust them, pass them: compile(config, { plugins })",
      }),
    ]);
  const { plugins = NO_PLUGINS } = options;
  const project = projectOf(config, plugins, host);
  const list = wantedList(project.config, wanted);
  const bytes = new ByteBuffer();
  const frames = new ByteBuffer();
  const outputs = planInMemory(list, plugins, host);
  const names = new NameRecorder(wantsCovered(outputs), () => scratchOf(host));
  const builtAt = options.builtAt ?? buildTime(host);
  const result = await compileList(
    planOf(list, { features: listFeatures, plugins: options.plugins, compat: options.compat }),
    host,
    (chunk) => void bytes.append(chunk, 0, chunk.length),
    {
      ...options,
      builtAt,
      headerLines: patchLines(list, builtAt),
      record: (chunk) => {
        frames.append(chunk, 0, chunk.length);
        options.record?.(chunk);
      },
      ...(outputs.length > 0 && { names }),
    },
  );
  if (options.cacheDir !== undefined) await collectCopies(options.cacheDir, host);
  const diagnostics = [...project.warnings, ...result.diagnostics];
  const end = headerBytes(recordHeader(list, result, 0));
  frames.append(end, 0, end.length);
  const record = BuildRecord.read(frames.view())!;
  await ListRules.load(record);
  const built = bytes.view();
  const trial = { ...result, ...names.end(), list: built, outputs, config: list };
  const folder = options.configFolder ?? host.cwd;
  return {
    ...result,
    bytes: built,
    diagnostics,
    outputs: outputs.length === 0 ? [] : await filesInMemory({ ...trial, folder }, host),
    answers: new AnswersInMemory(record, built, new SourceLines(record, options.cacheDir, host)),
  };
}

function wantedList(config: Config, wanted: string | undefined): Config {
  if (wanted === undefined && config.lists === undefined) return config;
  const lists = listsOf(config).map((one) => one.config);
  const found = lists.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const names = someOf(lists.map(({ name }) => name));
  throw new CompilerError([
    wanted === undefined
      ? errorOf("several-lists", `The configuration has ${lists.length} lists: ${names}`, {
          hint: "Name one of them: compile(config, { list })",
        })
      : errorOf("unknown-list", `The configuration has no list ${printable(wanted, 60)}`, {
          hint: `Lists: ${names}`,
        }),
  ]);
}

/** Answers of a list in memory. */
class AnswersInMemory {
  private readonly record: BuildRecord;
  private readonly list: Uint8Array;
  private readonly sources: SourceLines;
  private known: ListRules | undefined;

  constructor(record: BuildRecord, list: Uint8Array, sources: SourceLines) {
    this.record = record;
    this.list = list;
    this.sources = sources;
  }

  /** Indexes the list at the first question. */
  private get rules(): ListRules {
    const { record, list } = this;
    return (this.known ??= ListRules.loaded(record, new MappedNames(list, record)));
  }

  isBlocked(name: string): boolean {
    const { rules } = this;
    return rules.isBlocked(name) ?? rules.answer(asciiName(name)).verdict === "blocked";
  }

  async why(names: readonly string[]): Promise<Explanation[]> {
    const { record, rules, sources } = this;
    return await explainNames(names.map(asciiName), { record, rules, sources });
  }
}

/** A file of an output, in memory. */
export interface OutputInMemory {
  /** Its name in the rules directory. */
  readonly file: string;
  readonly format: string;
  readonly bytes: Uint8Array;
}

/** No file is read from here or written to it. */
const NO_FOLDER = ".rules-compiler-in-memory";

/** The outputs of a configuration, for `filesInMemory`. Throws a `CompilerError` if one is invalid. */
function planInMemory(config: Config, plugins: Plugins, host: Host): OutputPlan[] {
  return planOutputs(config, { folder: NO_FOLDER, host, plugins });
}

/** The files of the outputs of a list, without compressed copies. No guard refuses them. Rejects with a `CompilerError`. */
async function filesInMemory(
  draft: Omit<TrialDraft, "files" | "accept">,
  host: Host,
): Promise<OutputInMemory[]> {
  const shadow = shadowHost(host);
  const name = host.path.join(NO_FOLDER, "list");
  const files = [{ name, path: host.path.resolve(host.cwd, name) }];
  const trial = { ...draft, files, accept: Object.keys(CODES) };
  const { written } = await publishTrial(trial, NO_FOLDER, shadow);
  const found: OutputInMemory[] = [];
  for (const { file, files: all = [file], format } of written)
    for (const one of format === undefined ? [] : all) {
      const path = host.path.resolve(host.cwd, one);
      const shown = relativeName(NO_FOLDER, path, host);
      found.push({ file: shown, format: format!, bytes: await shadow.readFile(path) });
    }
  return found;
}
