import { createHash } from "node:crypto";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { CombinedConfig } from "../config/config.ts";
import { listsOf } from "../config/lists.ts";
import { warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { VERSION } from "../diagnostics/version.ts";
import { listShape } from "../engine/list-shape.ts";
import { scratchOf } from "../engine/scratch.ts";
import { slugOf } from "../engine/slug.ts";
import type { CombinedFormat, CombinedSource } from "../formats/combined/combined-format.ts";
import { CombinedNames } from "../formats/combined/combined-names.ts";
import { combinedFormats } from "../formats/combined/registry.ts";
import { scopeMarks } from "../formats/combined/scope-marks.ts";
import { FormatWriter } from "../formats/format-writer.ts";
import { ListModel } from "../formats/list-model.ts";
import { Losses } from "../formats/losses.ts";
import { NameBuffer } from "../formats/name-buffer.ts";
import { DEFAULT_OPTIONS } from "../formats/name-format.ts";
import { readLines } from "../host/read-lines.ts";
import { StateFile } from "../host/state-file.ts";
import { NameExpander } from "../kernel/name-expander.ts";
import { ListFile } from "../publish/list-file.ts";
import { recordFolder } from "../record/record-folder.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import type { BuildContext } from "./build-context.ts";
import { type ListPlan, planList } from "./list-plan.ts";
import type { WrittenOutput } from "./list-outputs.ts";
import type { Project } from "./project.ts";

/** A file over several lists, and the published lists that it is made from. */
interface Combination {
  readonly config: CombinedConfig;
  readonly format: CombinedFormat;
  /** Shown to users; `paths` are absolute. */
  readonly names: readonly string[];
  readonly paths: readonly string[];
  readonly plans: readonly ListPlan[];
}

/** What a combination was made from. */
interface MadeFrom {
  readonly digest: string;
  readonly written: WrittenOutput;
}

/**
 * Writes the files over several lists from what is published, after all lists of a run are built. Lists that were refused or are
 * held count as they are published. Nothing is read if no list has changed.
 */
export async function writeCombined(
  project: Project,
  context: BuildContext,
): Promise<WrittenOutput[]> {
  const { emit, options, signal } = context;
  const written: WrittenOutput[] = [];
  if (project.config.combined === undefined || options.output === "-") return written;
  for (const one of combinationsOf(project, context)) {
    signal.throwIfAborted();
    const done = await writeOne(one, context);
    if (done === undefined) continue;
    written.push(done);
    emit({ kind: "combined", output: done });
  }
  return written;
}

function combinationsOf(project: Project, { options, host }: BuildContext): Combination[] {
  const { plugins, config } = project;
  const lists = new Map(listsOf(config).map((one) => [one.config.name, one]));
  const folder = options.rulesDir;
  // The bits of the lists follow their order in the configuration, whatever they cover.
  const order = (config.lists ?? []).map(({ name }) => name);
  return config.combined!.map((entry) => {
    const format = combinedFormats.get(entry.format)!;
    const names = format.endings.map((ending) =>
      host.path.isAbsolute(entry.path)
        ? `${entry.path}${ending}`
        : host.path.join(folder, `${entry.path}${ending}`),
    );
    return {
      config: entry,
      format,
      names,
      paths: names.map((name) => host.path.resolve(host.cwd, name)),
      plans: (entry.lists ?? order).map((name) =>
        planList({ ...lists.get(name)!, project, plugins }, options, host),
      ),
    };
  });
}

/** Undefined if a list is not published yet. */
async function writeOne(
  combination: Combination,
  context: BuildContext,
): Promise<WrittenOutput | undefined> {
  const { host, emit } = context;
  const { plans, names, paths } = combination;
  for (const { files, list } of plans)
    if (files[0] === undefined || !(await host.exists(files[0].path))) {
      const message = `${printable(names[0]!)} is not written: the list ${printable(list.config.name)} is not published`;
      emit({ kind: "diagnostic", diagnostic: warningOf("not-combined", message) });
      return undefined;
    }
  const state = stateOf(paths[0]!, context);
  const last = await state.read();
  if (last !== undefined && last.digest === (await digestOf(combination, context)))
    return { ...last.written, outcome: "unchanged" };
  const written = await publishCombined(combination, context);
  await state.tryReplace({ digest: await digestOf(combination, context), written });
  return written;
}

async function publishCombined(
  { config, format, plans, names, paths }: Combination,
  { host }: BuildContext,
): Promise<WrittenOutput> {
  const openScratch = (): ReturnType<typeof scratchOf> => scratchOf(host);
  const losses = new Losses();
  const files = paths.map((path) => new ListFile(path, host));
  const sizes = await Promise.all(plans.map(({ files: [file] }) => host.sizeOf(file!.path)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const merged = new CombinedNames(openScratch, total);
  try {
    for (const file of files) await file.open();
    for (const [index, plan] of plans.entries()) await addList(plan, merged, index, host);
    const tags = tagsOf(plans);
    const source: CombinedSource = {
      lists: plans.map(({ list }, index) => ({ name: list.config.name, tag: tags[index]! })),
      header: [
        ...plans.map(({ list }, index) => `${tags[index]}: ${printable(list.config.name, 80)}`),
        `Compiled by rules-compiler ${VERSION}`,
      ],
      names: () => merged.names(),
    };
    let bytes = 0;
    const counted = files.map((file) => ({
      write: (piece: Uint8Array): void => {
        bytes += piece.length;
        file.write(piece);
      },
    }));
    const count = format.write(source, { files: counted, paths, losses, openScratch });
    let outcome: WrittenOutput["outcome"] = "unchanged";
    for (const file of files) if ((await file.publish()) === "written") outcome = "written";
    return {
      file: names[0]!,
      format: config.format,
      outcome,
      names: count,
      bytes,
      parts: 1,
      files: names,
      losses: losses.all(),
    };
  } finally {
    merged.close();
    for (const file of files) await file.close();
  }
}

/** Reads a published list and adds what it means. The losses of patterns were reported with the list's own formats. */
async function addList(
  { compile, files: [file] }: ListPlan,
  merged: CombinedNames,
  index: number,
  host: BuildContext["host"],
): Promise<void> {
  const buffer = new NameBuffer(() => scratchOf(host), false);
  try {
    await readLines(file!.path, host, (lines) => buffer.take(lines, 0));
    if (buffer.specials.some(({ text }) => /^(?:@@)?\//.test(text))) await loadRegex();
    const model = new ListModel(buffer, listShape(compile, []));
    const how = { format: scopeMarks, options: DEFAULT_OPTIONS, policy: "skip" as const };
    const block = (lines: Uint8Array): void => merged.add(lines, index);
    new FormatWriter(how, { block, allow: block }, new NameExpander()).write(model);
  } finally {
    buffer.close();
  }
}

/** A short text for every list: its slug, if that is plain and unique. */
function tagsOf(plans: readonly ListPlan[]): string[] {
  const slugs = plans.map(({ list }) => slugOf(list.config.name));
  return slugs.map((slug, index) =>
    /^[a-z0-9-]{1,60}$/.test(slug) && slugs.indexOf(slug) === index ? slug : `list-${index + 1}`,
  );
}

function stateOf(path: string, { host }: BuildContext): StateFile<MadeFrom> {
  const name = `${host.path.basename(path)}.combined.json`;
  return new StateFile(host.path.join(recordFolder(path, host), name), isMadeFrom, host);
}

function isMadeFrom(value: unknown): value is MadeFrom {
  if (typeof value !== "object" || value === null) return false;
  const { digest, written } = value as Partial<MadeFrom>;
  return typeof digest === "string" && typeof written === "object" && written !== null;
}

/** Digest of the settings and of the stamps of everything that was read and written. */
async function digestOf(
  { config, plans, paths }: Combination,
  { host }: BuildContext,
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([VERSION, config]));
  const read = plans.map(({ files }) => files[0]!.path);
  for (const path of [...read, ...paths]) {
    const stamp = await host.stampOf(path);
    hash.update(encodeUtf8(`\0${path}\0${stamp?.text ?? ""}`));
  }
  return hash.digest("hex");
}
