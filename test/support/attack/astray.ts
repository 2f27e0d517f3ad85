import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ORACLE = join(import.meta.dirname, "../../oracle/node_modules/@adguard");
const DOWNLOADER = join(ORACLE, "filters-downloader/dist/index.js");
const UPDATER = join(ORACLE, "diff-builder/dist/api/updater/es/index.js");

const METADATA =
  /(?:Diff-Path|Diff-Expires|Title|Expires|Redirect|Checksum|Homepage|Version|Last modified|TimeUpdated)\s*:/i;
/** Everything that ends a line for somebody, or turns it around: all but line feeds and tabs. */
const ODD_CHARACTER =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

/** What in a published list could lead those who subscribe to it astray. `own` is what the configuration says of itself. */
export function astray(text: string, own: RegExp): string[] {
  return text.split("\n").flatMap((line) => {
    const shown = JSON.stringify(line);
    if (/^[\s\u00a0]*!#/.test(line)) return [`a directive is published: ${shown}`];
    if (/^[\s\u00a0]*!\+/.test(line)) return [`a hint is published: ${shown}`];
    if (ODD_CHARACTER.test(line)) return [`an odd character is published: ${shown}`];
    if (
      /diff-path/i.test(line) ||
      (/^\s*[!#]/.test(line) && METADATA.test(line) && !own.test(line))
    )
      return [`metadata of a source is published: ${shown}`];
    return [];
  });
}

interface Downloader {
  compile(lines: readonly string[], origin: string, constants: object): Promise<string[]>;
}
interface Updater {
  applyPatch(list: { filterUrl: string; filterContent: string }): Promise<string | null>;
}

/** Subscribes to a list with AdGuard's own programs: they take it as it is, and ask nobody for more. */
export async function subscriber(): Promise<((text: string) => Promise<string[]>) | undefined> {
  if (!existsSync(DOWNLOADER) || !existsSync(UPDATER)) return undefined;
  const { FiltersDownloader } = (await import(pathToFileURL(DOWNLOADER).href)) as {
    FiltersDownloader: Downloader;
  };
  const { DiffUpdater } = (await import(pathToFileURL(UPDATER).href)) as { DiffUpdater: Updater };
  return async (text) => {
    const lines = text.split("\n");
    try {
      const taken = await FiltersDownloader.compile(lines, "http://127.0.0.1:9", {});
      if (taken.length !== lines.length) return ["the downloader takes other lines: "];
    } catch (error) {
      return [`the downloader refuses the list: ${String(error)}`];
    }
    try {
      const updated = await DiffUpdater.applyPatch({
        filterUrl: "http://127.0.0.1:9/list.txt",
        filterContent: text,
      });
      return updated === null ? [] : ["the updater changes the list: "];
    } catch (error) {
      return [`the updater asks for a difference: ${String(error)}`];
    }
  };
}
