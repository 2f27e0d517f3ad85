import { ByteBuffer, equalBytes } from "../../bytes/text.ts";
import {
  type CombinedConfig,
  type Config,
  type OutputConfig,
  listsOf,
  isRelease,
} from "../../config/lists.ts";
import type { OutputFormat } from "../../config/outputs.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../../diagnostics/render.ts";
import { countText, printable, someOf } from "../../diagnostics/text.ts";
import { listShape } from "../../engine/compile.ts";
import { type Plan, allEntryFiles, planOf, slugOf } from "../../engine/plan.ts";
import {
  ListComparison,
  changedText,
  hasChange,
  unsureExceptions,
} from "../../explain/list-change.ts";
import { PlainList } from "../../explain/plain-list.ts";
import { listFeatures } from "../../features/registry.ts";
import { type CombinedFile, combinedFormats } from "../../formats/combined/registry.ts";
import type { ListShape } from "../../formats/list-model.ts";
import { type Host, HostError } from "../../host/host.ts";
import { NOWHERE, type OutputFile } from "../../publish/list-file.ts";
import { manifestPaths, releasePaths } from "../../publish/manifest.ts";
import { type OutputPlan, planOutputs, plannedFiles } from "../../publish/output-plan.ts";
import { PATCH_FOLDER } from "../../publish/patches.ts";
import { recordFolder } from "../../record/record-file.ts";
import { stemOf } from "../../publish/split-file.ts";
import { sourcesPath } from "../../sources/ledger.ts";
import { isAddress, isBelow } from "../../sources/limits.ts";
import type { BuildContext } from "../build.ts";
import { refuseForeignList } from "../foreign-list.ts";
import { type GuardLimits, guardLimits } from "../guards/guard.ts";
import type { GuardVerdict } from "../guards/registry.ts";
import type { BuildOptions, ProjectOptions } from "./build-options.ts";
import { type ListConfig, type Project, inputPaths, isFolderName, isListAlone } from "./project.ts";

/**
 * Plans lists that are built together. Rejects with a `CompilerError` if two of them write the same file, one overwrites what it is
 * made from or the list of another configuration, or one writes where it must not.
 */
export async function planLists(
  lists: readonly ListConfig[],
  options: BuildOptions,
  host: Host,
): Promise<ListPlan[]> {
  const { output } = options;
  if (output !== undefined && !isFolderName(output, host) && lists.length > 1)
    throw new CompilerError([
      errorOf(
        "several-lists",
        `-o names one file, but the configuration has ${countText(lists.length, "list")}`,
      ),
    ]);
  const plans = lists.map((list) => planList(list, options, host));
  const owners = new Map<string, string>();
  for (const plan of plans) {
    const { name } = plan.list.config;
    const inputs = inputPaths(plan.list, host);
    for (const path of pathsOf(plan)) {
      if (inputs.has(path)) throw overwrites(name, path);
      const owner = owners.get(path);
      if (owner !== undefined && owner !== name)
        throw new CompilerError([
          errorOf(
            "same-file",
            `${printable(owner)} and ${printable(name)} would both be written to ${printable(path)}`,
          ),
        ]);
      owners.set(path, name);
    }
  }
  const [first] = lists;
  const combined = first === undefined ? [] : planCombined(first.project, options, host);
  for (const { name, files } of combined)
    for (const { path } of files) {
      if (lists.some((list) => inputPaths(list, host).has(path))) throw overwrites(name, path);
      const owner = owners.get(path);
      if (owner !== undefined)
        throw new CompilerError([
          errorOf(
            "same-file",
            `${printable(owner)} and the combined file ${printable(name)} would both be written to ${printable(path)}`,
          ),
        ]);
      owners.set(path, name);
    }
  await refusePlaces(wantedFiles(plans, combined), options, host, first?.project.locate);
  for (const plan of plans) await refuseForeignList(plan, options, host);
  return plans;
}

/** Says how many files of the release are not written, if the list is written alone. */
export function noteListAlone(
  lists: readonly ListConfig[],
  { options, host, emit }: Pick<BuildContext, "options" | "host" | "emit">,
): void {
  const [first] = lists;
  if (first === undefined || !isListAlone(options, host)) return;
  const all = { ...options, output: undefined, to: undefined };
  const others = [
    ...lists.flatMap((list) => planList(list, all, host).outputs.flatMap(plannedFiles)),
    ...lists.flatMap(({ config }) => releasePaths(config, options.rulesDir, host)),
    ...planCombined(first.project, all, host).flatMap(({ files }) => files),
  ];
  const count = others.length;
  if (count === 0) return;
  const message = `${countText(count, "other file")} of the configuration ${count === 1 ? "is" : "are"} not written: -o ${printable(options.output!, 80)} is for the list alone`;
  emit({ kind: "diagnostic", diagnostic: { ...errorOf("list-alone", message), severity: "note" } });
}

function overwrites(name: string, path: string): CompilerError {
  const message = `${printable(name)} would overwrite ${printable(path)}, which it is made from`;
  const hint = `Name another file, such as ${printable(path.replace(/[^\\/]*$/, "new-$&"))}`;
  return new CompilerError([errorOf("overwrites-input", message, { hint })]);
}

function pathsOf({ files, manifest, outputs }: ListPlan): string[] {
  const further = outputs.flatMap(plannedFiles);
  return [...[...files, ...further].map(({ path }) => path), ...manifest];
}

/** A list of a combined file: where it is published, and what its rules are like. */
export interface CombinedList {
  readonly name: string;
  readonly path: string;
  readonly shape: ListShape;
}

/** Files over several lists, decided before anything is read. Saved plans contain them, so they are plain data. */
interface OverLists {
  /** The configured file, for users. */
  readonly name: string;
  /** The files of the format, in the order in which they are published. */
  readonly files: readonly (OutputFile & Omit<CombinedFile, "ending">)[];
  /** In the order of the configuration. */
  readonly lists: readonly CombinedList[];
}

/** One file with the names of several lists. */
export interface CombinedPlan extends OverLists {
  readonly config: CombinedConfig;
}

/** The manifest of all lists, with its signature. It comes after all other files. */
export interface ReleasePlan extends OverLists {
  readonly config: Pick<Config, "name" | "manifest">;
  /** The folder of the configuration. */
  readonly folder: string;
  /** The files that the lists may have, without the parts of split files. */
  readonly released: readonly OutputFile[];
  /** How the parts of split files begin. */
  readonly parts: readonly string[];
}

/** Plans the files over several lists of a configuration. With `-o FILE`, the lists are elsewhere, and nothing is combined. */
export function planCombined(
  { config, plugins, ...project }: Project,
  options: ProjectOptions & { readonly compat?: boolean },
  host: Pick<Host, "cwd" | "path">,
): (CombinedPlan | ReleasePlan)[] {
  const { combined = [], lists: listed = [] } = config;
  const { rulesDir } = options;
  const hasRelease = isRelease(config);
  const isNothing = combined.length === 0 && !hasRelease;
  if (isNothing || isListAlone(options, host)) return [];
  const lists = new Map(listsOf(config).map((one) => [one.config.name, one]));
  const planOne = (name: string): ListPlan =>
    planList(
      { ...lists.get(name)!, project: { config, plugins, ...project }, plugins },
      options,
      host,
    );
  const listOf = (name: string): CombinedList => {
    const { files, compile } = planOne(name);
    return { name, path: files[0]!.path, shape: listShape(compile) };
  };
  const plans: CombinedPlan[] = combined.map((entry) => {
    const { file: written } = entry;
    const name = host.path.isAbsolute(written) ? written : host.path.join(rulesDir, written);
    const files = combinedFormats.get(entry.format)!.files;
    return {
      config: entry,
      name,
      files: files.map(({ ending, ...own }) => ({
        name: `${name}${ending}`,
        path: host.path.resolve(host.cwd, `${name}${ending}`),
        ...own,
      })),
      lists: (entry.lists ?? listed.map((list) => list.name)).map(listOf),
    };
  });
  if (!hasRelease) return plans;
  const released = listed.map(({ name }) => planOne(name));
  const outputs = released.flatMap((plan) =>
    plan.outputs.map(({ updates: _updates, ...one }) => one),
  );
  const isSplit = ({ limits }: (typeof outputs)[number]): boolean =>
    Math.min(limits.names, limits.bytes) !== Infinity;
  const files = manifestPaths(config, rulesDir, host).map((path) => ({
    path,
    name: host.path.relative(host.cwd, path),
  }));
  const release: ReleasePlan = {
    config: { name: config.name, ...(config.manifest && { manifest: config.manifest }) },
    folder: project.folder,
    name: files[0]!.name,
    files,
    lists: listed.map(({ name }) => listOf(name)),
    released: [
      ...released.flatMap((plan) => [
        ...plan.files.slice(0, 1),
        ...(plan.sourcesFile === undefined
          ? []
          : [{ name: plan.sourcesFile, path: plan.sourcesFile }]),
      ]),
      ...outputs.flatMap(plannedFiles),
      ...plans.flatMap((plan) => plan.files),
    ],
    parts: outputs
      .filter(isSplit)
      .map(({ path }) => host.path.join(host.path.dirname(path), `${stemOf(path, host)}-`)),
  };
  return [...plans, release];
}

/**
 * Everything that the build of one list will do, decided before it reads any source: a pure function of the configuration, the
 * options and the working directory.
 */
export interface ListPlan {
  /** With `-o FILE`, its configuration has no other outputs. */
  readonly list: ListConfig;
  /** The sources and stages of the list. */
  readonly compile: Plan;
  /** The files of the list; empty for standard output, and for a list that is converted to another format. */
  readonly files: readonly OutputFile[];
  /** Whether the list, or what it is converted to, goes to standard output. */
  readonly isToStdout: boolean;
  /** Additional formats. */
  readonly outputs: readonly OutputPlan[];
  /** Paths of the manifest and its signature, and of the file of sources. */
  readonly manifest: readonly string[];
  /** The file that says what is published of each remote source; undefined if it is not written. */
  readonly sourcesFile: string | undefined;
  readonly guards: GuardLimits;
  /** Paths of the lists that this one must cover, by name. */
  readonly covers: ReadonlyMap<string, string | undefined>;
}

export function planList(
  list: ListConfig,
  options: ProjectOptions & { readonly compat?: boolean },
  host: Pick<Host, "cwd" | "path">,
): ListPlan {
  const { plugins } = list;
  const { to } = options;
  const alone = isListAlone(options, host) ? withoutRelease(list.config) : list.config;
  const config =
    to === undefined ? alone : { ...alone, outputs: [convertedOutput(list.config, options, host)] };
  const isToStdout = options.output === "-";
  const files = to === undefined ? listFiles(config.name, options, host) : [];
  const isAlone = isToStdout || isListAlone(options, host) || options.compat === true;
  const hasRemote = config.sources.some(({ source }) => isAddress(source));
  const sourcesFile = isAlone || !hasRemote ? undefined : files[0] && sourcesPath(files[0].path);
  const release = manifestPaths(config, options.rulesDir, host);
  const manifest = sourcesFile === undefined ? release : [...release, sourcesFile];
  const taken = [...files.map(({ path }) => path), ...manifest];
  const compile = planOf(config, {
    features: listFeatures,
    plugins,
    compat: options.compat,
    decisions: list.decisions,
  });
  return {
    list: { ...list, config },
    compile,
    files,
    isToStdout,
    outputs: planOutputs(config, { folder: options.rulesDir, host, taken, plugins }),
    manifest,
    sourcesFile,
    guards: guardLimits(config),
    covers: new Map(list.covers.map((name) => [name, listFiles(name, options, host)[0]?.path])),
  };
}

/** The only output of a converted list. If the configuration has the format, its settings apply. */
function convertedOutput(
  { outputs = [] }: Config,
  { to, output = "" }: ProjectOptions,
  host: Pick<Host, "path">,
): OutputConfig {
  const {
    split: _split,
    pack: _pack,
    updates: _updates,
    file: _file,
    ...settings
  } = outputs.find(({ format }) => format === to) ?? { format: to as OutputFormat };
  const isNamed = output !== "-" && !isFolderName(output, host);
  return { ...settings, ...(isNamed && { file: host.path.basename(output) }) };
}

/** The settings of a list that is written alone: without other files, and without a header that announces patches. */
function withoutRelease({
  outputs: _outputs,
  manifest: _manifest,
  notice: _notice,
  patches: _patches,
  ...config
}: Config): Config {
  return config;
}

/** The files of a list with this name; empty if it goes to standard output or nowhere. */
export function listFiles(
  name: string,
  { output, copyToRules, rulesDir }: ProjectOptions,
  host: Pick<Host, "cwd" | "path">,
): OutputFile[] {
  const names: string[] = [];
  const file = `${slugOf(name)}.txt`;
  // First, because guards compare with it, and everything else is published beside it.
  if (output === undefined || copyToRules) names.push(host.path.join(rulesDir, file));
  if (output !== undefined && output !== "-" && output !== NOWHERE)
    names.push(isFolderName(output, host) ? host.path.join(output, file) : output);
  // `-o` may name the same file as the rules directory.
  const byPath = new Map(names.map((one) => [host.path.resolve(host.cwd, one), one]));
  return [...byPath].map(([path, one]) => ({ name: one, path }));
}

/** A file that a run would write. */
export interface WantedFile extends OutputFile {
  /** The name in the configuration; undefined if the program chose it. */
  readonly given?: string | undefined;
}

/** Every file that these lists and the files over several lists have, except parts, compressed files and patches beside them. */
export function wantedFiles(
  plans: readonly ListPlan[],
  combined: readonly (CombinedPlan | ReleasePlan)[],
): WantedFile[] {
  return [
    ...plans.flatMap(({ files, outputs, manifest, list }) => [
      ...files,
      ...outputs.flatMap((plan, index) =>
        plannedFiles(plan).map((file) => ({ ...file, given: list.config.outputs?.[index]?.file })),
      ),
      ...manifest.map((path) => ({ name: path, path, given: list.config.manifest?.file })),
    ]),
    ...combined.flatMap(({ files, config }) =>
      files.map((file) => ({
        ...file,
        given: "file" in config ? config.file : config.manifest?.file,
      })),
    ),
  ];
}

/**
 * A configuration, and what is stored, may come from elsewhere: without permission they write only into the rules directory, and
 * never dot files or through symbolic links. The file of `-o` is the user's own choice. Rejects with a `CompilerError`.
 */
export async function refusePlaces(
  files: readonly WantedFile[],
  options: Pick<ProjectOptions, "permit" | "output" | "rulesDir">,
  host: Host,
  locate?: Project["locate"],
): Promise<void> {
  const check = new PlaceCheck(options, host);
  // An output may have several files with the same problem.
  const found = new Map<string, Diagnostic>();
  for (const file of files) {
    const { given = file.path } = file;
    const problem = found.has(given) ? undefined : await check.problemOf(file);
    if (problem === undefined) continue;
    const at = locate?.(given);
    found.set(given, at === undefined ? problem : { ...problem, at });
  }
  if (found.size > 0) throw new CompilerError([...found.values()]);
}

class PlaceCheck {
  private readonly host: Host;
  private readonly root: string;
  /** The file that the user named. */
  private readonly typed: string | undefined;
  /** The folder that the user named. With `-r`, the list is copied into it; otherwise it is the rules directory. */
  private readonly folder: string | undefined;
  private readonly mayLeave: boolean;
  private readonly real = new Map<string, Promise<string | undefined>>();

  constructor(
    { permit, output, rulesDir }: Pick<ProjectOptions, "permit" | "output" | "rulesDir">,
    host: Host,
  ) {
    this.host = host;
    this.root = host.path.resolve(host.cwd, rulesDir);
    this.mayLeave = permit.includes("paths");
    const path = output === undefined ? undefined : host.path.resolve(host.cwd, output);
    const isFolder = output !== undefined && isFolderName(output, host);
    this.typed = isFolder ? undefined : path;
    this.folder = isFolder ? path : undefined;
  }

  async problemOf({ name, path }: WantedFile): Promise<Diagnostic | undefined> {
    const { host } = this;
    if (path === this.typed) return undefined;
    const isInside = isBelow(path, this.root, host);
    const parts = isInside
      ? host.path.relative(this.root, path).split(host.path.sep)
      : [host.path.basename(path)];
    if (parts.some((part) => part.startsWith(".")))
      return errorOf("path-unsafe", `${printable(name)} is a hidden file, or in a hidden folder`, {
        hint: "Choose a name that does not begin with a dot",
      });
    const isCopy = this.folder !== this.root && host.path.dirname(path) === this.folder;
    const mayBeThere = this.mayLeave || isCopy || (isInside && (await this.isReallyInside(path)));
    if (!mayBeThere)
      return errorOf("path-outside", `${printable(name)} is outside the rules directory`);
    const kind = await host.kindOf(path);
    if (kind === undefined || kind === "file") return undefined;
    const what = kind === "link" ? "a symbolic link" : "not a regular file";
    return errorOf("path-unsafe", `${printable(name)} is ${what}`, {
      hint: "Remove it; the file is then written there",
    });
  }

  /** Whether no folder on the way is a link to outside: neither that of the file nor those that are written beside it. */
  private async isReallyInside(path: string): Promise<boolean> {
    const { host, root } = this;
    const realRoot = await this.realFolder(root);
    if (realRoot === undefined) return false;
    // A folder that the user named may be anywhere. One in a checkout may be a link that the user has not seen.
    const isOwn = this.folder !== root && isBelow(root, host.cwd, host);
    const realCwd = isOwn ? await this.realFolder(host.cwd) : undefined;
    if (realCwd !== undefined && !isBelow(realRoot, realCwd, host)) return false;
    const folder = host.path.dirname(path);
    for (const one of [folder, recordFolder(path, host), host.path.join(folder, PATCH_FOLDER)]) {
      const real = await this.realFolder(one);
      if (real === undefined || !(real === realRoot || isBelow(real, realRoot, host))) return false;
    }
    return true;
  }

  /** The folder with every link resolved, although its end may not exist yet; undefined for a link to nowhere. */
  private realFolder(folder: string): Promise<string | undefined> {
    let known = this.real.get(folder);
    if (known === undefined) this.real.set(folder, (known = this.resolved(folder)));
    return known;
  }

  private async resolved(folder: string): Promise<string | undefined> {
    const { host } = this;
    try {
      return await host.realPath(folder);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if ((await host.kindOf(folder)) === "link") return undefined;
      const parent = host.path.dirname(folder);
      if (parent === folder) return folder;
      const real = await this.realFolder(parent);
      return real && host.path.join(real, host.path.basename(folder));
    }
  }
}

const SHOWN = 3;
const EMPTY = new Uint8Array(0);
/** Lists that are held after they were read: mostly, a list is compared with the one before it and the one after it. */
const HELD = 3;

/** Checks whether the lists of a run cover the lists that they must cover. */
export class CoveredLists {
  private readonly hasPromises: boolean;
  private readonly texts = new Map<string, Uint8Array>();
  /** The lists that were read last, by name. */
  private readonly held = new Map<
    string,
    { readonly bytes: Uint8Array; readonly list: PlainList }
  >();
  private readonly context: BuildContext;
  /** Paths of the published lists of the run, by name. */
  private readonly paths: ReadonlyMap<string, string | undefined>;
  /** Names of lists that were not compiled, because they did not change. */
  readonly unchanged: Set<string> = new Set();

  constructor(plans: readonly ListPlan[], context: BuildContext) {
    this.hasPromises = plans.some(({ covers }) => covers.size > 0);
    this.context = context;
    this.paths = new Map([
      ...plans.map(({ list, files }) => [list.config.name, files[0]?.path] as const),
      ...plans.flatMap(({ covers }) => [...covers]),
    ]);
  }

  /** A buffer for the text of a list, if any lists are compared. The names of all lists test expressions. */
  buffer(): ByteBuffer | undefined {
    return this.hasPromises ? new ByteBuffer() : undefined;
  }

  /** Adds a list that will be published. If a list is not added, its published version is compared. */
  add({ list }: ListPlan, text: Uint8Array): void {
    this.texts.set(list.config.name, text);
  }

  /** Checks whether a list blocks every name that its covered lists block. */
  async check({ list, covers }: ListPlan, text: Uint8Array): Promise<GuardVerdict> {
    const { accept } = this.context.options;
    if (covers.size === 0 || accept.includes("not-covered"))
      return { violations: [], warnings: [] };
    const { config } = list;
    const own = await this.read(config.name, text);
    const violations: Diagnostic[] = [];
    const warnings: Diagnostic[] = [];
    for (const name of covers.keys()) {
      const bytes = this.texts.get(name) ?? (await this.published(name));
      if (bytes === undefined) {
        const message = `Cannot tell whether ${printable(config.name)} covers ${printable(name)}: it is not published`;
        warnings.push(warningOf("cover-unknown", message));
        continue;
      }
      const other = await this.read(name, bytes);
      const comparison = new ListComparison(other, own, true);
      const { added, patterns, ...first } = comparison.difference();
      let { freed, changes } = first;
      const { byPattern, forSome } = unsureExceptions(added, other, own);
      const unsure = [
        ...patterns.filter((rule) => other.hasSpecial(rule) && !rule.startsWith("@@")),
        ...byPattern,
      ];
      if (forSome.length > 0) warnings.push(notForAll(config.name, name, forSome));
      if (freed === 0 && unsure.length > 0) {
        warnings.push(notExact(config.name, name, unsure));
        for await (const [one, ofOne] of this.allTexts())
          comparison.compareOn(await this.read(one, ofOne));
        ({ freed, changes } = comparison.difference());
      }
      if (freed === 0) continue;
      const examples = changes
        .filter((change) => hasChange(change, "freed"))
        .slice(0, SHOWN)
        .map((change) => changedText(change, "freed", (shown) => printable(shown, 80)));
      const message = `${printable(config.name)} does not block ${countText(freed, "name")} that ${printable(name)} blocks: ${examples.join(", ")}${freed > SHOWN ? " …" : ""}`;
      violations.push(errorOf("not-covered", message));
    }
    return { violations, warnings };
  }

  /** Reads a list, unless it is one of the last that were read. */
  private async read(name: string, bytes: Uint8Array): Promise<PlainList> {
    const known = this.held.get(name);
    this.held.delete(name);
    const isKnown = known !== undefined && equalBytes(known.bytes, bytes);
    const list = isKnown ? known.list : await PlainList.read(bytes);
    this.held.set(name, { bytes, list });
    if (this.held.size > HELD) this.held.delete(this.held.keys().next().value!);
    return list;
  }

  /** The texts of all lists in the run, whose names test regular expressions. Of unchanged lists, it is the published one. */
  private async *allTexts(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield* this.texts;
    for (const name of this.unchanged)
      if (!this.texts.has(name)) yield [name, (await this.published(name)) ?? EMPTY];
  }

  private async published(name: string): Promise<Uint8Array | undefined> {
    const { host } = this.context;
    const path = this.paths.get(name);
    return path !== undefined && (await host.exists(path)) ? await host.readFile(path) : undefined;
  }
}

function notForAll(list: string, covered: string, exceptions: readonly string[]): Diagnostic {
  const [first] = exceptions;
  const more = exceptions.length > 1 ? ` and ${countText(exceptions.length - 1, "other")}` : "";
  const message = `${printable(list)} does not cover ${printable(covered)} for some clients or query types: ${printable(first!, 60)}${more}`;
  return warningOf("cover-unknown", message, {
    hint: "If this is not intended, remove the exception, or add it to both lists",
  });
}

function notExact(list: string, covered: string, patterns: readonly string[]): Diagnostic {
  const [first] = patterns;
  const more = patterns.length > 1 ? ` and ${countText(patterns.length - 1, "other")}` : "";
  const message = `${printable(list)} may not cover ${printable(covered)}: ${printable(first!, 60)}${more} cannot be compared exactly`;
  return warningOf("cover-unknown", message, {
    hint: "The names of all lists in this run were compared instead. To be sure, add the expression to both lists",
  });
}

/** A note that names the local files outside of its folder that a configuration reads. */
export function outsideNote({ compile, list }: ListPlan, host: Host): Diagnostic[] {
  const { folder, file } = list.project;
  // Without a configuration, the user typed the files.
  if (file === "") return [];
  const all = [
    ...compile.sources,
    ...allEntryFiles(list.config),
    ...compile.ranks,
    ...compile.expand,
  ];
  const named = [
    ...all.flatMap(({ source, keyFiles }) => [
      source,
      ...Object.values<string | undefined>({ ...keyFiles }),
    ]),
    ...(list.config.guards?.breaks_traffic?.logs ?? []),
    ...(list.config.expand?.logs ?? []),
  ].filter((one) => one !== undefined && !isAddress(one));
  const base = host.path.resolve(host.cwd, folder);
  const isOutside = (one: string): boolean => !isBelow(host.path.resolve(base, one), base, host);
  const outside = [...new Set(named as string[])].filter(isOutside);
  if (outside.length === 0) return [];
  const message = `The configuration reads ${countText(outside.length, "file")} outside of its folder: ${someOf(outside)}`;
  const note = warningOf("reads-outside", message, { subject: "files", all: outside });
  return [{ ...note, severity: "note" }];
}
