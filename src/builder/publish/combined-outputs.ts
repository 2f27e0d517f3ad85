import type { WrittenOutput, FileChange } from "../../documents/facts.ts";
import { createHash } from "node:crypto";
import { encodeUtf8 } from "../../bytes/text.ts";
import { MOST_COMBINED_LISTS } from "../../config/outputs.ts";
import { CompilerError, errorOf, warningOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import { VERSION } from "../../diagnostics/version.ts";
import { buildTime } from "../../engine/compile.ts";
import { scratchOf } from "../../engine/compile-options.ts";
import { slugOf } from "../../engine/plan.ts";
import { CombinedNames, scopeMarks } from "../../formats/combined/combined-names.ts";
import { type CombinedListName, combinedFormats } from "../../formats/combined/registry.ts";
import { FormatWriter } from "../../formats/format-writer.ts";
import { ListModel } from "../../formats/list-model.ts";
import { DEFAULT_OPTIONS } from "../../formats/name-format.ts";
import { NameBuffer } from "../../formats/names.ts";
import { Losses } from "../../formats/special-rule.ts";
import { isAnything, isText, arrayOf, objectOf, readLines } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";
import { NameExpander } from "../../kernel/names.ts";
import { isExpression } from "../../meaning/line.ts";
import { FileSet } from "../../publish/file-set.ts";
import { ListFile, type OutputFile } from "../../publish/list-file.ts";
import {
  hasOtherFiles,
  isManifestDue,
  manifestKey,
  writeManifest,
} from "../../publish/manifest.ts";
import { stateOf } from "../../record/record-file.ts";
import { loadRegex } from "../../syntax/regex-rule.ts";
import type { BuildContext } from "../build.ts";
import {
  type CombinedList,
  type CombinedPlan,
  type ReleasePlan,
  planCombined,
} from "../plan/list-plan.ts";
import type { Project } from "../plan/project.ts";
import { finishJournal } from "./publish-list.ts";

/** The files over several lists that would change with the lists in the shadow. */
export async function combinedChanges(
  project: Project,
  { options, signal }: BuildContext,
  shadow: Host,
): Promise<FileChange[]> {
  const plans = planCombined(project, options, shadow);
  const written = await writeCombined(plans, { options, host: shadow, signal, emit: () => {} });
  return written
    .filter(({ outcome }) => outcome === "written")
    .map(({ file, format }) => ({ file, ...(format !== undefined && { format }) }));
}

/** A list for each bit; undefined for one that was removed. */
type ListPlaces = readonly (CombinedList | undefined)[];

/** What a combined file was made from. */
interface MadeFrom {
  readonly digest: string;
  readonly written: WrittenOutput;
  /** The names of the lists, in the order of their bits. */
  readonly places: readonly (string | null)[];
}

type CombinedContext = Pick<BuildContext, "host" | "emit" | "signal" | "options">;

/**
 * Writes the files over several lists from what is published, after all lists of a run are built. Lists that were refused or are
 * held count as they are published. Nothing is read if no list has changed.
 */
export async function writeCombined(
  plans: readonly (CombinedPlan | ReleasePlan)[],
  context: CombinedContext,
): Promise<WrittenOutput[]> {
  const { emit, signal } = context;
  const written: WrittenOutput[] = [];
  for (const plan of plans) {
    signal.throwIfAborted();
    const done = await writeOne(plan, context);
    if (done === undefined) continue;
    written.push(done);
    emit({ kind: "combined", output: done });
  }
  return written;
}

/** Undefined if a list is not published yet. */
async function writeOne(
  plan: CombinedPlan | ReleasePlan,
  context: CombinedContext,
): Promise<WrittenOutput | undefined> {
  const { host, emit } = context;
  for (const { name, path } of plan.lists)
    if (!(await host.exists(path))) {
      const message = `${printable(plan.name)} is not written: the list ${printable(name)} is not published`;
      emit({ kind: "diagnostic", diagnostic: warningOf("not-combined", message) });
      return undefined;
    }
  if ("released" in plan) return await publishRelease(plan, context);
  const path = host.path.resolve(host.cwd, plan.name);
  const state = stateOf(path, "combined.json", isMadeFrom, host);
  const last = await state.read();
  if (last !== undefined && last.digest === (await digestOf(plan, context)))
    return { ...last.written, outcome: "unchanged" };
  const places = placesOf(plan, last?.places ?? []);
  const written = await publishCombined(plan, places, context);
  const names = places.map((list) => list?.name ?? null);
  await state.tryReplace({ digest: await digestOf(plan, context), written, places: names });
  return written;
}

/** Writes the manifest of what is published of all lists, if it is another than before or half of its time has passed. */
async function publishRelease(
  { config, files: planned, name, folder, released, parts }: ReleasePlan,
  context: CombinedContext,
): Promise<WrittenOutput> {
  const { host } = context;
  const [{ path }] = planned as [OutputFile];
  const home = { name, path };
  const root = host.path.dirname(path);
  const set = new FileSet(path, root, host);
  const finish = async (): Promise<void> =>
    await finishJournal(home, root, (one) => planned.some((file) => file.path === one), context);
  const lock = new ListFile(path, host);
  try {
    await lock.open(finish);
    const files = await publishedOf(released, parts, host);
    const key = await manifestKey(config, folder, host);
    const isSigned = await host.exists(`${path}.minisig`);
    const isDue =
      isSigned !== (key !== undefined) ||
      (await hasOtherFiles(path, files, host)) ||
      (await isManifestDue(config, path, files, host));
    const outcome = isDue ? "written" : "unchanged";
    if (isDue) {
      const paths = files.map((file) => file.path);
      await writeManifest(config, { path, files: paths, builtAt: buildTime(host), key }, set, host);
      await set.commit();
    }
    return { file: name, outcome };
  } finally {
    await set.close();
    await lock.close();
  }
}

/** Those of the files that exist, with the parts of split ones. */
async function publishedOf(
  files: readonly OutputFile[],
  parts: readonly string[],
  host: Host,
): Promise<OutputFile[]> {
  const found: OutputFile[] = [];
  for (const one of files) if (await host.exists(one.path)) found.push(one);
  for (const start of parts) {
    const folder = host.path.dirname(start);
    const stem = host.path.basename(start);
    for (const name of await host.listFolder(folder))
      if (name.startsWith(stem) && /^\d+(?:\.|$)/.test(name.slice(stem.length)))
        found.push({ name, path: host.path.join(folder, name) });
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The lists in the order of the configuration, or each at the place that it had before, and new ones at the end. */
function placesOf({ config, lists, name }: CombinedPlan, before: MadeFrom["places"]): ListPlaces {
  if (combinedFormats.get(config.format)!.keepsPlaces !== true) return lists;
  const kept = before.map((known) => lists.find((list) => list.name === known));
  const places = [...kept, ...lists.filter((list) => !kept.includes(list))];
  if (places.length > MOST_COMBINED_LISTS)
    throw new CompilerError([
      errorOf(
        "config-invalid",
        `${printable(name)} would have ${places.length} lists with those that were removed; at most ${MOST_COMBINED_LISTS} are possible`,
        { hint: "Give the file another name with `file`" },
      ),
    ]);
  return places;
}

async function publishCombined(
  { config, files: planned, name }: CombinedPlan,
  places: ListPlaces,
  context: CombinedContext,
): Promise<WrittenOutput> {
  const { host } = context;
  const home = { name, path: host.path.resolve(host.cwd, name) };
  const root = host.path.dirname(home.path);
  const set = new FileSet(home.path, root, host);
  const finish = async (): Promise<void> =>
    await finishJournal(home, root, (path) => planned.some((one) => one.path === path), context);
  const format = combinedFormats.get(config.format)!;
  const openScratch = (): ReturnType<typeof scratchOf> => scratchOf(host);
  const losses = new Losses();
  const lostRules = new Losses(new Set());
  const files = planned.map(({ path }) => new ListFile(path, host));
  const sizes = await Promise.all(places.map(async (list) => list && host.sizeOf(list.path)));
  const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  const merged = new CombinedNames(openScratch, total, places.length);
  try {
    for (const [index, file] of files.entries()) await file.open(index === 0 ? finish : undefined);
    for (const [place, list] of places.entries())
      if (list !== undefined) await addList(list, { merged, place, losses: lostRules }, host);
    losses.addAll(lostRules.all());
    const lists = taggedLists(places);
    let bytes = 0;
    const counted = files.map((file) => ({
      write: (piece: Uint8Array): void => {
        bytes += piece.length;
        file.write(piece);
      },
      rewrite: (position: number, piece: Uint8Array): void => file.rewrite(position, piece),
    }));
    const source = {
      lists,
      header: [
        ...lists.flatMap((list) => (list ? [`${list.tag}: ${printable(list.name, 80)}`] : [])),
        `Compiled by rules-compiler ${VERSION}`,
      ],
      names: () => merged.names(),
    };
    const count = format.write(source, { files: counted, name, losses, openScratch });
    let outcome: WrittenOutput["outcome"] = "unchanged";
    for (const [index, file] of files.entries()) {
      const isPolled = planned[index]!.isPolled === true;
      const done = isPolled ? await file.stageLater(set) : await file.stage(set);
      if (done === "written") outcome = "written";
    }
    await set.commit();
    return {
      file: name,
      format: config.format,
      outcome,
      names: count,
      bytes,
      parts: 1,
      files: planned.map((file) => file.name),
      losses: losses.all(),
    };
  } finally {
    merged.close();
    await set.close();
    for (const file of files) await file.close();
  }
}

/** Reads a published list, adds what it means, and counts the rules that no name can express. */
async function addList(
  { path, shape }: CombinedList,
  { merged, place, losses }: { merged: CombinedNames; place: number; losses: Losses },
  host: BuildContext["host"],
): Promise<void> {
  const buffer = new NameBuffer(() => scratchOf(host), false);
  try {
    await readLines(path, host, (lines) => buffer.take(lines, 0));
    if (buffer.specials.some(({ text }) => isExpression(text))) await loadRegex();
    const model = new ListModel(buffer, shape);
    const how = { format: scopeMarks, options: DEFAULT_OPTIONS, policy: "skip" as const, losses };
    const block = (lines: Uint8Array): void => merged.add(lines, place);
    new FormatWriter(how, { block, allow: block }, new NameExpander()).write(model);
  } finally {
    buffer.close();
  }
}

/** Gives every list a short text: its slug, if that is plain and unique. */
function taggedLists(places: ListPlaces): (CombinedListName | undefined)[] {
  const slugs = places.map((list) => list && slugOf(list.name));
  return places.map((list, place) => {
    if (list === undefined) return undefined;
    const slug = slugs[place]!;
    const isPlain = /^[a-z0-9-]{1,60}$/.test(slug) && slugs.indexOf(slug) === place;
    return { name: list.name, tag: isPlain ? slug : `list-${place + 1}` };
  });
}

const isMadeFrom = objectOf<MadeFrom>({
  digest: isText,
  written: objectOf({}),
  places: arrayOf(isAnything),
});

/** Digest of the settings and of the stamps of everything that was read and written. */
async function digestOf(
  { config, lists, files }: CombinedPlan,
  { host }: CombinedContext,
): Promise<string> {
  const meant = lists.map(({ name, shape }) => [name, shape]);
  const hash = createHash("sha256").update(JSON.stringify([VERSION, config, meant]));
  for (const { path } of [...lists, ...files]) {
    const stamp = await host.stampOf(path);
    hash.update(encodeUtf8(`\0${path}\0${stamp?.text ?? ""}`));
  }
  return hash.digest("hex");
}
