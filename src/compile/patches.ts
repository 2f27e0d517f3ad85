import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { durationMs } from "../config/duration.ts";
import type { Config } from "../config/fields.ts";
import { rcsDiff } from "../formats/rcs-diff.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { slugOf } from "./slug.ts";

/** The folder of patches, beside the list. */
export const PATCH_FOLDER = "patches";
const PATCH = /^(?<name>.+)-s-(?<made>\d{1,12})-(?<expires>\d{1,10})\.patch$/;
/** What a run leaves behind that was killed while it wrote one. */
const LEFTOVER = /(?<=\.patch)\.[a-z0-9]{1,12}\.tmp$/;
const DEFAULT_EXPIRES = "6h";
const DEFAULT_KEEP = "7d";
const HEAD = 8192;

/** What stands in the head of a list whose subscribers may fetch differences: where the next one will be, and when to look. */
export function patchLines(config: Config, builtAt: Date): string[] {
  if (config.patches === undefined) return [];
  const seconds = (durationMs(config.patches.expires ?? DEFAULT_EXPIRES) ?? 0) / 1000;
  const made = Math.floor(builtAt.getTime() / 1000);
  const name = slugOf(config.name).slice(0, 64);
  return [
    `Diff-Path: ${PATCH_FOLDER}/${name}-s-${made}-${seconds}.patch`,
    `Diff-Expires: ${Math.max(1, Math.round(seconds / 3600))} hours`,
  ];
}

/** The name of the patch that a list says will lead on from it. */
export function patchNameIn(list: Uint8Array): string | undefined {
  const head = decodeUtf8(list, 0, Math.min(HEAD, list.length));
  const name = /^! Diff-Path: patches\/(?<name>[^\s/]+)$/m.exec(head)?.groups?.["name"];
  return name !== undefined && PATCH.test(name) ? name : undefined;
}

/** Writes what leads from the list that was there to the one that is there now, where subscribers of the old one look for it. */
export async function keepPatch(
  path: string,
  old: Uint8Array | undefined,
  config: Pick<Config, "name" | "patches">,
  host: Host,
): Promise<void> {
  const fresh = await host.readFile(path);
  const name = old && patchNameIn(old);
  const folder = join(dirname(path), PATCH_FOLDER);
  // A list that would lead to itself would be fetched again and again.
  if (old !== undefined && name !== undefined && name !== patchNameIn(fresh))
    await writeWhole(join(folder, name), host, (file) => file.write(patchBytes(old, fresh)));
  await removeOld(folder, config, host);
}

/** The difference, with the digest of what must come out of it. */
export function patchBytes(old: Uint8Array, fresh: Uint8Array): Uint8Array {
  const diff = encodeUtf8(rcsDiff(decodeUtf8(old), decodeUtf8(fresh)));
  const lines = countLineFeeds(diff, 0, diff.length);
  const checksum = createHash("sha1").update(fresh).digest("hex");
  const head = encodeUtf8(`diff checksum:${checksum} lines:${lines}\n`);
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
  const slug = slugOf(config.name).slice(0, 64);
  for (const file of await host.listFolder(folder)) {
    const { name, made } = PATCH.exec(file.replace(LEFTOVER, ""))?.groups ?? {};
    const isOld = LEFTOVER.test(file) || now - Number(made) * 1000 > keepMs;
    if (name !== slug || !isOld) continue;
    await host.removeFile(join(folder, file)).catch((error: unknown) => {
      if (!(error instanceof HostError)) throw error;
    });
  }
}
