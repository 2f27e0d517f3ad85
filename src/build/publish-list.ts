import type { OutputPlan } from "../publish/output-plan.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { FormatOutputs } from "../publish/format-outputs.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { manifestKey, manifestPath, releasePaths, writeManifest } from "../publish/manifest.ts";
import { FileSet } from "../publish/file-set.ts";
import { PATCH_FOLDER, removeExpired, writePatch } from "../publish/patches.ts";
import { outputFailed } from "../publish/output-failed.ts";
import type { Config } from "../config/config.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type HeaderConfig, headerTexts } from "../formats/header.ts";
import type { HeaderValues } from "../formats/header-template.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { NameBuffer } from "../formats/name-buffer.ts";
import type { Host } from "../host/host.ts";
import { PACKED_ENDING } from "../host/packed-endings.ts";
import type { ListOutputs, WrittenOutput } from "./list-outputs.ts";

/** The settings that affect publishing. */
export type PublishedConfig = HeaderConfig &
  Pick<Config, "outputs" | "patches" | "manifest" | "guards" | "keep_builds">;

/** Everything that is published with a list. */
export interface Publication {
  readonly config: PublishedConfig;
  readonly outputPlans: readonly OutputPlan[];
  readonly nameBuffer: NameBuffer | undefined;
  readonly shape: ListShape;
  /** Guards that may be overruled in this run. */
  readonly accept: readonly string[];
  readonly builtAt: Date;
  /** The list's header without its dates. */
  readonly timelessHead: string;
  /** The version that compiled it. */
  readonly tool: string;
  /** Labels of the sources. */
  readonly sources: readonly string[];
  readonly configFolder: string;
  readonly rulesDir: string;
  /** SHA-256 of the files that were planned, by path. Nothing is published if a file differs. */
  readonly planned?: ReadonlyMap<string, string>;
  /** What is published about the sources. */
  readonly sourcesFile?: { readonly path: string; readonly text: string } | undefined;
}

/** What was published. */
export interface Published {
  readonly written: WrittenOutput[];
  readonly files: readonly OutputFile[];
  readonly names: readonly string[];
  /** What guards found in the files and the caller accepted. */
  readonly overruled: readonly Diagnostic[];
}

/** The part of a configuration that a kept build needs. It has no addresses, which may contain passwords. */
export function publishedConfig(config: PublishedConfig): PublishedConfig {
  const { name, description, version, homepage, license, expires, header } = config;
  const { outputs, patches, manifest, keep_builds } = config;
  const guards = { min_rules: config.guards?.min_rules };
  const title = { name, description, version, homepage, license, expires, header };
  const all = { ...title, outputs, patches, manifest, guards, keep_builds };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as PublishedConfig;
}

/** Writes all files of a list and publishes them together. If one cannot be written, nothing is published. */
export async function publishList(
  outputs: ListOutputs,
  publication: Publication,
  host: Host,
): Promise<Published> {
  const { config, nameBuffer, shape, accept, builtAt, sources, tool } = publication;
  // The release has the first file of the list; others are copies.
  const [list, ...copies] = outputs.written;
  const rulesDir = host.path.resolve(host.cwd, publication.rulesDir);
  const set = new FileSet(list?.path ?? rulesDir, rulesDir, host);
  const timelessHead = encodeUtf8(publication.timelessHead);
  let overruled: readonly Diagnostic[] = [];
  const formatOutputs = new FormatOutputs(
    publication.outputPlans,
    config.guards?.min_rules ?? 1,
    host,
  );
  try {
    // Reports an invalid key before anything is published.
    const key = await manifestKey(config, publication.configFolder, host);
    if (nameBuffer !== undefined) {
      const head = (values: HeaderValues): string[] =>
        headerTexts(config, { ...values, compiler: tool, showsCount: true });
      const found = await formatOutputs.write(nameBuffer, shape, head, builtAt);
      const refused = found.filter(({ code }) => !accept.includes(code));
      if (refused.length > 0) throw new CompilerError(refused);
      overruled = found;
    }
    const outcome = await outputs.stage(timelessHead, set);
    const isPatched = list !== undefined && outcome === "written" && config.patches !== undefined;
    if (isPatched) await writePatch(list.path, set, host);
    const formats = await formatOutputs.stage(sources, set);
    const files = [...outputs.written, ...formatOutputs.files];
    const { planned } = publication;
    if (planned !== undefined)
      await requirePlanned(
        files.filter((file) => !copies.includes(file)),
        planned,
        set,
      );
    const about = publication.sourcesFile;
    if (about !== undefined)
      await set.write(about.path, (file) => file.write(encodeUtf8(about.text)));
    if (config.manifest !== undefined) {
      const path = manifestPath(config, publication.rulesDir, host);
      const released = files.filter((file) => !copies.includes(file));
      const paths = [...released.map((file) => file.path), ...(about ? [about.path] : [])];
      const release = { path, files: paths, builtAt, key };
      await writeManifest(config, release, set, host);
    }
    await set.commit();
    const written: WrittenOutput[] = [
      ...(list === undefined || outcome === undefined ? [] : [{ file: list.name, outcome }]),
      ...(await outputs.publishCopies(timelessHead)),
      ...formats,
    ];
    await formatOutputs.settle();
    if (isPatched) await removeExpired(list.path, config, host);
    const names = [...files.map(({ name }) => name), ...namesBeside(outputs, publication, host)];
    return { written, files, names, overruled };
  } catch (error) {
    throw outputFailed("Cannot write what belongs to the list", error);
  } finally {
    await set.close();
    await formatOutputs.close();
  }
}

/** Rejects with a `CompilerError` if a file of the set is not the one that was planned. Compressed copies are made from these. */
async function requirePlanned(
  files: readonly OutputFile[],
  planned: ReadonlyMap<string, string>,
  set: FileSet,
): Promise<void> {
  const names = new Map(files.map(({ path, name }) => [path, name]));
  for (const { path, name } of files) {
    const isCopy = planned.has(path.replace(PACKED_ENDING, ""));
    if (!planned.has(path) && !isCopy) throw otherThanPlanned(name);
  }
  for (const [path, sha256] of planned)
    if ((await set.digestOf(path)) !== sha256) throw otherThanPlanned(names.get(path) ?? path);
}

function otherThanPlanned(name: string): CompilerError {
  const message = `${printable(name)} would not be the file that was planned`;
  return new CompilerError([errorOf("plan-outdated", message)]);
}

/** What is published beside the list's own files: the folder of patches, and the manifest with its signature. */
function namesBeside(
  { written }: ListOutputs,
  { config, rulesDir, sourcesFile }: Publication,
  host: Host,
): string[] {
  const release = releasePaths(config, rulesDir, host);
  if (sourcesFile !== undefined) release.push(sourcesFile.path);
  const patches =
    config.patches === undefined
      ? []
      : written.slice(0, 1).map(({ name }) => host.path.dirname(name));
  return [
    ...patches.map((folder) => host.path.join(folder, PATCH_FOLDER)),
    ...release.map((path) => host.path.relative(host.cwd, path)),
  ];
}
