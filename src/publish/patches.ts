import { createHash } from "node:crypto";
import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { durationMs } from "../config/duration.ts";
import type { Config } from "../config/fields.ts";
import { rcsDiff } from "../formats/rcs-diff.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { slugOf } from "../engine/slug.ts";

/** The folder of patches, beside the list. */
export const PATCH_FOLDER = "patches";
/** The second form is that of version 0.1.0. */
const PATCH =
  /^(?:(?<name>[a-z0-9_]+)_v[\d.]+|(?<slug>.+))-s-(?<made>\d{1,12})-(?<expires>\d{1,10})\.patch$/;
/** What a killed run left. */
const LEFTOVER = /^(?<file>.+\.patch)\.[a-z0-9]{1,12}\.tmp$/;
const DEFAULT_EXPIRES = "6h";
const DEFAULT_KEEP = "7d";
const HEAD = 8192;
/** Of the list's name in the names of its patches. */
const LONGEST_NAME = 40;

/**
 * What stands in the head of a list whose subscribers may fetch differences: where the next one will be, and when to look.
 * AdGuard's clients read the second and the period in the path, which has three hyphens and no more; uBlock Origin's reads
 * the date, with the minute of the day, and takes the part of the file that has the name behind `#`. `last` is the second in
 * the path of the edition before: no two of them have the same path.
 */
export function patchLines(config: Config, builtAt: Date, last = 0): string[] {
  if (config.patches === undefined) return [];
  const seconds = (durationMs(config.patches.expires ?? DEFAULT_EXPIRES) ?? 0) / 1000;
  const made = Math.max(Math.floor(builtAt.getTime() / 1000), last + 1);
  const name = patchName(config.name);
  const file = `${name}_v${dateText(made)}-s-${made}-${seconds}.patch`;
  return [
    `Diff-Path: ${PATCH_FOLDER}/${file}#${name}`,
    `Diff-Expires: ${Math.max(1, Math.round(seconds / 3600))} hours`,
  ];
}

/** Small letters, digits and underscores: what all clients take. Where that says less than the list's name, a digest tells them apart. */
function patchName(listName: string): string {
  const slug = slugOf(listName);
  const name = slug.replaceAll("-", "_").replace(/[^a-z0-9_]+/g, "");
  if (name.length === slug.length && name.length <= LONGEST_NAME) return name;
  const digest = createHash("sha256").update(slug).digest("hex").slice(0, 8);
  return `${name.slice(0, LONGEST_NAME)}_${digest}`.replace(/^_+/, "");
}

/** `2026.11.10.0360`; always as long, so that two editions differ in nothing but their dates. */
function dateText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const minutes = date.getUTCHours() * 60 + date.getUTCMinutes();
  const day = date.toISOString().slice(0, 10).replaceAll("-", ".");
  return `${day}.${String(minutes).padStart(4, "0")}`;
}

/** The patch that a list says will lead on from it. */
export interface NextPatch {
  readonly file: string;
  /** Which part of it is for this list; undefined in editions of version 0.1.0. */
  readonly part: string | undefined;
  /** The second in its name. */
  readonly made: number;
}

export function nextPatch(list: Uint8Array): NextPatch | undefined {
  const head = decodeUtf8(list, 0, Math.min(HEAD, list.length));
  const { file, part } =
    /^! Diff-Path: patches\/(?<file>[^\s/#]+)(?:#(?<part>\S+))?$/m.exec(head)?.groups ?? {};
  const made = PATCH.exec(file ?? "")?.groups?.["made"];
  return file === undefined || made === undefined ? undefined : { file, part, made: Number(made) };
}

/** The second in the path of the edition that is published under one of these paths; 0 when there is none. */
export async function lastPatch(paths: readonly string[], host: Host): Promise<number> {
  let last = 0;
  for (const path of paths) {
    try {
      if (!(await host.exists(path))) continue;
      const file = await host.openFile(path);
      try {
        const head = new Uint8Array(HEAD);
        last = Math.max(last, nextPatch(head.subarray(0, await file.read(head)))?.made ?? 0);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }
  return last;
}

/** Writes what leads from the list that was there to the one that is there now, where subscribers of the old one look for it. */
export async function keepPatch(
  path: string,
  old: Uint8Array | undefined,
  config: Pick<Config, "name" | "patches">,
  host: Host,
): Promise<void> {
  const fresh = await host.readFile(path);
  const next = old && nextPatch(old);
  const folder = host.path.join(host.path.dirname(path), PATCH_FOLDER);
  if (old !== undefined && next !== undefined && leadsOn(next, old, fresh))
    await writeWhole(host.path.join(folder, next.file), host, (file) =>
      file.write(patchBytes(old, fresh, next.part)),
    );
  await removeOld(folder, config, host);
}

/**
 * A list that would lead to itself would be fetched again and again. Whether the last line has its end cannot be changed by
 * lines alone: clients disagree on it, so subscribers take the whole list then.
 */
function leadsOn({ file }: NextPatch, old: Uint8Array, fresh: Uint8Array): boolean {
  return file !== nextPatch(fresh)?.file && endsLine(old) === endsLine(fresh);
}

function endsLine(text: Uint8Array): boolean {
  return text.at(-1) === LF;
}

/** The difference, with the digest of what must come out of it. The last of its lines may lack its end, and counts. */
export function patchBytes(
  old: Uint8Array,
  fresh: Uint8Array,
  part: string | undefined,
): Uint8Array {
  const diff = encodeUtf8(rcsDiff(decodeUtf8(old), decodeUtf8(fresh)));
  const lines = countLineFeeds(diff, 0, diff.length) + Number(diff.length > 0 && !endsLine(diff));
  const checksum = createHash("sha1").update(fresh).digest("hex");
  const name = part === undefined ? "" : `name:${part} `;
  const head = encodeUtf8(`diff ${name}checksum:${checksum} lines:${lines}\n`);
  const bytes = new Uint8Array(head.length + diff.length);
  bytes.set(head);
  bytes.set(diff, head.length);
  return bytes;
}

async function removeOld(
  folder: string,
  config: Pick<Config, "name" | "patches">,
  host: Host,
): Promise<void> {
  const keepMs = durationMs(config.patches?.keep ?? DEFAULT_KEEP) ?? 0;
  const now = host.now().getTime();
  const own = patchName(config.name);
  const slug = slugOf(config.name).slice(0, 64);
  for (const file of await host.listFolder(folder)) {
    const found = PATCH.exec(LEFTOVER.exec(file)?.groups?.["file"] ?? file)?.groups;
    if (found === undefined || (found["name"] !== own && found["slug"] !== slug)) continue;
    // This run holds the list's lock: what another left half written belongs to nobody.
    const isOld = now - Number(found["made"]) * 1000 > keepMs;
    if (!isOld && !LEFTOVER.test(file)) continue;
    await host.removeFile(host.path.join(folder, file)).catch((error: unknown) => {
      if (!(error instanceof HostError)) throw error;
    });
  }
}
