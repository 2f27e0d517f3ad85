import { Buffer } from "node:buffer";
import { basename, dirname, join } from "node:path";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";

/** `written`, or `unchanged` when only the date would differ: resolvers then have nothing to load again. */
export type WriteOutcome = "written" | "unchanged";

/**
 * Puts the list where readers look for it. They see the old list or the new one, whole: the bytes go to a temporary
 * file in the same folder, are flushed, and take the name in one step.
 */
export async function writeList(
  path: string,
  bytes: Uint8Array,
  host: Host,
): Promise<WriteOutcome> {
  const folder = dirname(path);
  const random = Math.random().toString(36).slice(2, 10);
  const temporary = join(folder, `.${basename(path)}.${random}.tmp`);
  try {
    if (await isSameButDate(path, bytes, host)) return "unchanged";
    await host.makeFolder(folder);
    await host.createFile(temporary, bytes);
    await host.rename(temporary, path);
    await host.syncFolder(folder);
    return "written";
  } catch (error) {
    await host.removeFile(temporary).catch(() => {});
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("output-failed", `Cannot write ${printable(path)}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}

async function isSameButDate(path: string, bytes: Uint8Array, host: Host): Promise<boolean> {
  if (!(await host.exists(path))) return false;
  const old = await host.readFile(path);
  const oldDate = dateLine(old);
  const newDate = dateLine(bytes);
  if (oldDate === undefined || newDate === undefined) return false;
  return (
    isEqual(old.subarray(0, oldDate.start), bytes.subarray(0, newDate.start)) &&
    isEqual(old.subarray(oldDate.end), bytes.subarray(newDate.end))
  );
}

/** The `! Last modified:` line is ASCII and stands in the header, so a search in its first kilobytes is enough. */
function dateLine(bytes: Uint8Array): { start: number; end: number } | undefined {
  const head = Array.from(bytes.subarray(0, 8192), (byte) => String.fromCharCode(byte)).join("");
  const start = head.indexOf("\n! Last modified: ");
  const end = start === -1 ? -1 : head.indexOf("\n", start + 1);
  return end === -1 ? undefined : { start, end };
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** File systems end names at 255 bytes, and the temporary file's is longer. */
const LONGEST_SLUG = 200;

function cutToBytes(text: string, most: number): string {
  let cut = "";
  let bytes = 0;
  for (const character of text) {
    bytes += encodeUtf8(character).length;
    if (bytes > most) break;
    cut += character;
  }
  return cut;
}

/** The file name for a list: letters and digits of its name, the rest as hyphens. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 200);
  return slug === "" ? "rules" : cutToBytes(slug, LONGEST_SLUG);
}
