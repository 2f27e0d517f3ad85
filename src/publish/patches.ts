import { durationMs } from "../diagnostics/text.ts";
import { createHash } from "node:crypto";
import { SliceTable, hashBytes, hashSlice } from "../bytes/hash.ts";
import {
  HASH,
  LF,
  SPACE,
  countLineFeeds,
  decodeUtf8,
  eachLine,
  encodeUtf8,
} from "../bytes/text.ts";
import type { Config } from "../config/lists.ts";
import { scratchOf } from "../engine/compile-options.ts";
import { slugOf } from "../engine/plan.ts";
import { ScratchPartitions, ifAvailable } from "../host/files.ts";
import type { Host, Scratch } from "../host/host.ts";
import type { FileSet } from "./file-set.ts";
import { readStart } from "./list-file.ts";
import type { OutputPlan } from "./output-plan.ts";
import { publishedParts } from "./split-file.ts";

/** The folder of patches, beside the list. */
export const PATCH_FOLDER = "patches";
/** The second alternative matches the names of version 0.1.0. */
const PATCH =
  /^(?:(?<name>[a-z0-9_]+)_v[\d.]+|(?<slug>.+))-s-(?<made>\d{1,12})-(?<expires>\d{1,10})\.patch$/;
/** How often subscribers look for the next patch. */
const CHECK_SECONDS = 21_600;
const HEADER_BYTES = 8192;
/** Maximum length of the list's name in the names of its patches. */
const LONGEST_NAME = 40;

/**
 * The header lines for subscribers that fetch patches: the path of the next patch, and when to look for it. AdGuard's clients read
 * the timestamp and the period in the path, which must have exactly three hyphens. uBlock Origin reads the date, with the minute of
 * the day, and uses the part of the file with the name after `#`. `last` is the timestamp of the previous version, so that no two
 * versions have the same path.
 */
export function patchLines(
  config: Pick<Config, "name" | "patches">,
  builtAt: Date,
  last = 0,
): string[] {
  if (config.patches === undefined) return [];
  const made = Math.max(Math.floor(builtAt.getTime() / 1000), last + 1);
  const name = patchName(config.name);
  const file = `${name}_v${dateText(made)}-s-${made}-${CHECK_SECONDS}.patch`;
  return [
    `Diff-Path: ${PATCH_FOLDER}/${file}#${name}`,
    `Diff-Expires: ${CHECK_SECONDS / 3600} hours`,
  ];
}

/** Lower-case letters, digits and underscores, which all clients accept. If that loses information, a digest keeps names distinct. */
function patchName(listName: string): string {
  const slug = slugOf(listName);
  const name = slug.replaceAll("-", "_").replace(/[^a-z0-9_]+/g, "");
  if (name.length === slug.length && name.length <= LONGEST_NAME) return name;
  const digest = createHash("sha256").update(slug).digest("hex").slice(0, 8);
  return `${name.slice(0, LONGEST_NAME)}_${digest}`.replace(/^_+/, "");
}

/** `2026.11.10.0360`; of constant length, so that the headers of two versions have the same size. */
function dateText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const minutes = date.getUTCHours() * 60 + date.getUTCMinutes();
  const day = date.toISOString().slice(0, 10).replaceAll("-", ".");
  return `${day}.${String(minutes).padStart(4, "0")}`;
}

/** The patch that a list announces for its next version. */
interface NextPatch {
  readonly file: string;
  /** The part of the file for this list; undefined in lists of version 0.1.0. */
  readonly part: string | undefined;
  /** The timestamp in its name, in seconds. */
  readonly made: number;
}

export function nextPatch(list: Uint8Array): NextPatch | undefined {
  const header = decodeUtf8(list, 0, Math.min(HEADER_BYTES, list.length));
  const { file, part } =
    /^! Diff-Path: patches\/(?<file>[^\s/#]+)(?:#(?<part>\S+))?$/m.exec(header)?.groups ?? {};
  const made = PATCH.exec(file ?? "")?.groups?.["made"];
  return file === undefined || made === undefined ? undefined : { file, part, made: Number(made) };
}

/** The latest patch timestamp of the lists that are published under these paths; 0 without a patch. */
export async function lastPatch(paths: readonly string[], host: Host): Promise<number> {
  let last = 0;
  for (const path of paths) {
    const start = await readStart(path, HEADER_BYTES, host);
    if (start !== undefined) last = Math.max(last, nextPatch(start)?.made ?? 0);
  }
  return last;
}

/** Adds the patch from the published list to that of a set, where subscribers of the published one look for it. */
export async function writePatch(path: string, set: FileSet, host: Host): Promise<void> {
  const old = (await host.exists(path)) ? await host.readFile(path) : undefined;
  const next = old && nextPatch(old);
  if (old === undefined || next === undefined) return;
  const fresh = await host.readFile(set.placeOf(path));
  if (!isPatchable(next, old, fresh)) return;
  await set.write(host.path.join(patchFolder(path, host), next.file), (file) =>
    file.write(patchBytes(old, fresh, next.part)),
  );
}

/** The folder of the patches of a list. */
export function patchFolder(list: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(list), PATCH_FOLDER);
}

/**
 * A patch from a list to itself would be fetched forever. A patch cannot add or remove the final line end, because clients disagree
 * about it; subscribers then download the whole list.
 */
function isPatchable({ file }: NextPatch, old: Uint8Array, fresh: Uint8Array): boolean {
  return file !== nextPatch(fresh)?.file && endsLine(old) === endsLine(fresh);
}

function endsLine(text: Uint8Array): boolean {
  return text.at(-1) === LF;
}

/** The patch, with the digest of its result. A last line without a line end counts as a line. */
export function patchBytes(
  old: Uint8Array,
  fresh: Uint8Array,
  part: string | undefined,
): Uint8Array {
  const diff = encodeUtf8(rcsDiff(decodeUtf8(old), decodeUtf8(fresh)));
  const lines = countLineFeeds(diff, 0, diff.length) + Number(diff.length > 0 && !endsLine(diff));
  const checksum = createHash("sha1").update(fresh).digest("hex");
  const name = part === undefined ? "" : `name:${part} `;
  const header = encodeUtf8(`diff ${name}checksum:${checksum} lines:${lines}\n`);
  const bytes = new Uint8Array(header.length + diff.length);
  bytes.set(header);
  bytes.set(diff, header.length);
  return bytes;
}

/** The patches of a list in a folder, in the order of their names. */
export async function patchesOf(list: string, folder: string, host: Host): Promise<string[]> {
  const names = await host.listFolder(folder);
  return names.filter((file) => madeOf(file, list) !== undefined).toSorted();
}

/** Whether a file has the name of a patch of this list. */
export function isPatchOf(file: string, list: string): boolean {
  return madeOf(file, list) !== undefined;
}

/** The timestamp in the name of a patch, in seconds; undefined if it is not a patch of this list. */
function madeOf(file: string, list: string): number | undefined {
  const found = PATCH.exec(file)?.groups;
  const isOwn =
    found?.["name"] === patchName(list) || found?.["slug"] === slugOf(list).slice(0, 64);
  return isOwn ? Number(found["made"]) : undefined;
}

/** Removes old patches, after a list was published. */
export async function removeExpired(
  path: string,
  config: Pick<Config, "name" | "patches">,
  host: Host,
): Promise<void> {
  const folder = patchFolder(path, host);
  const keepMs = durationMs(config.patches ?? "") ?? 0;
  const now = host.now().getTime();
  for (const file of await host.listFolder(folder)) {
    const made = madeOf(file, config.name);
    if (made !== undefined && now - made * 1000 > keepMs)
      await ifAvailable(() => host.removeFile(host.path.join(folder, file)));
  }
}

/** How many names of an output, which blocks names alone, come and go from one host to another. */
export async function nameDifference(
  { path }: Pick<OutputPlan, "path">,
  before: Host,
  after: Host,
): Promise<{ readonly added: number; readonly removed: number }> {
  const sides = {
    before: await publishedParts(path, before),
    after: await publishedParts(path, after),
  };
  const bytes = [...sides.before, ...sides.after].reduce((sum, part) => sum + part.length, 0);
  const difference = new LineDifference(() => scratchOf(after), bytes);
  try {
    for (const side of ["before", "after"] as const)
      for (const part of sides[side])
        eachName(part, (start, end) => difference.add(side, part, start, end));
    const { added, removed } = difference.changes();
    // A name may have a line for each kind of address.
    return { added: new Set(added).size, removed: new Set(removed).size };
  } finally {
    difference.close();
  }
}

/** The last word of every line that is not a comment. */
function eachName(bytes: Uint8Array, take: (start: number, end: number) => void): void {
  eachLine(bytes, (start, end) => {
    if (end === start || bytes[start] === HASH) return;
    const space = bytes.subarray(start, end).lastIndexOf(SPACE);
    take(start + space + 1, end);
  });
}

/** Lines of one partition, about, of both files. */
const PARTITION_BYTES = 16 * 1024 * 1024;
const MOST_PARTITIONS = 1024;

/** The lines that only one of two files has, in bounded memory; the order of lines does not matter. */
export class LineDifference {
  private readonly before: ScratchPartitions;
  private readonly after: ScratchPartitions;

  /** `bytes` is the size of both files, about. */
  constructor(openScratch: () => Scratch, bytes: number) {
    const count = Math.min(MOST_PARTITIONS, Math.max(1, Math.ceil(bytes / PARTITION_BYTES)));
    this.before = new ScratchPartitions(openScratch, count);
    this.after = new ScratchPartitions(openScratch, count);
  }

  /** Adds a line of the file before or after. */
  add(side: "before" | "after", bytes: Uint8Array, start: number, end: number): void {
    const partitions = this[side];
    const hash = hashBytes(0, bytes, start, end) >>> 0;
    const index = Math.floor((hash / 2 ** 32) * partitions.count);
    const lines = partitions.end(index);
    lines.append(bytes, start, end);
    lines.push(LF);
    partitions.settle(index);
  }

  /** Lines that only the file before has, and lines that only the file after has. */
  changes(): { readonly removed: string[]; readonly added: string[] } {
    const removed: string[] = [];
    const added: string[] = [];
    for (let index = 0; index < this.before.count; index++)
      compare(this.before.load(index), this.after.load(index), removed, added);
    return { removed, added };
  }

  close(): void {
    this.before.close();
    this.after.close();
  }
}

function compare(before: Uint8Array, after: Uint8Array, removed: string[], added: string[]): void {
  const lines = new SliceTable(before, countLineFeeds(before, 0, before.length));
  /** The number of each line before; a line may occur more than once. */
  const numbers: number[] = [];
  eachLine(before, (start, end) =>
    numbers.push(lines.numberOf(start, end, hashSlice(before, start, end))),
  );
  const isKept = new Uint8Array(lines.size);
  eachLine(after, (start, end) => {
    const number = lines.find(after, start, end, hashSlice(after, start, end));
    if (number === -1) added.push(decodeUtf8(after, start, end));
    else isKept[number] = 1;
  });
  for (const number of numbers)
    if (isKept[number] === 0)
      removed.push(decodeUtf8(before, lines.startOf(number), lines.endOf(number)));
}

/** The difference of two texts in RCS format (`diff -n`): `d3 2` deletes two lines from line 3 on, `a5 1` adds one after line 5. */
export function rcsDiff(old: string, fresh: string): string {
  const before = linesWithEnds(old);
  const after = linesWithEnds(fresh);
  let out = "";
  let from = 0;
  let to = 0;
  const flush = (untilOld: number, untilFresh: number): void => {
    if (untilOld > from) out += `d${from + 1} ${untilOld - from}\n`;
    if (untilFresh > to)
      out += `a${untilOld} ${untilFresh - to}\n${after.slice(to, untilFresh).join("")}`;
  };
  for (const [oldAt, freshAt, length] of commonRuns(before, after)) {
    flush(oldAt, freshAt);
    from = oldAt + length;
    to = freshAt + length;
  }
  flush(before.length, after.length);
  return out;
}

/** Lines with their line feeds; the last may have none. */
function linesWithEnds(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  const whole = lines.map((line) => `${line}\n`);
  return last === "" ? whole : [...whole, last];
}

type CommonRun = readonly [oldAt: number, freshAt: number, length: number];

/** The common runs of lines, in order. Lines that occur once in both texts anchor them; each run is as long as possible. */
function* commonRuns(old: readonly string[], fresh: readonly string[]): Generator<CommonRun> {
  let start = 0;
  const shorter = Math.min(old.length, fresh.length);
  while (start < shorter && old[start] === fresh[start]) start++;
  if (start > 0) yield [0, 0, start];
  let oldEnd = old.length;
  let freshEnd = fresh.length;
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd--;
    freshEnd--;
  }
  let oldAt = start;
  let freshAt = start;
  for (const [anchorOld, anchorFresh] of anchors(
    uniqueLines(old, start, oldEnd),
    uniqueLines(fresh, start, freshEnd),
  )) {
    if (anchorOld < oldAt || anchorFresh < freshAt) continue;
    let back = 0;
    while (
      anchorOld - back > oldAt &&
      anchorFresh - back > freshAt &&
      old[anchorOld - back - 1] === fresh[anchorFresh - back - 1]
    )
      back++;
    let on = 1;
    while (
      anchorOld + on < oldEnd &&
      anchorFresh + on < freshEnd &&
      old[anchorOld + on] === fresh[anchorFresh + on]
    )
      on++;
    yield [anchorOld - back, anchorFresh - back, back + on];
    oldAt = anchorOld + on;
    freshAt = anchorFresh + on;
  }
  if (oldEnd < old.length) yield [oldEnd, freshEnd, old.length - oldEnd];
}

/** The longest series of lines that are unique in both texts and have the same order. */
function anchors(
  old: ReadonlyMap<string, number>,
  fresh: ReadonlyMap<string, number>,
): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (const [line, freshAt] of fresh) {
    const oldAt = old.get(line);
    if (oldAt !== undefined && oldAt !== -1 && freshAt !== -1) pairs.push([oldAt, freshAt]);
  }
  return longestRising(pairs.toSorted((a, b) => a[1] - b[1]));
}

/** The index of each line; -1 for a line that occurs twice. */
function uniqueLines(lines: readonly string[], start: number, end: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = start; at < end; at++) found.set(lines[at]!, found.has(lines[at]!) ? -1 : at);
  return found;
}

/** The longest subsequence of the pairs in which the first numbers increase, by patience sorting. */
function longestRising(
  pairs: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  for (const [index, [value]] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]!]![0] < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1]!;
    tails[low] = index;
  }
  const found: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at !== -1; at = before[at]!) found.push(pairs[at]!);
  return found.toReversed();
}
