import { decodeUtf8 } from "../bytes/utf8.ts";
import { type ConfigNode, ConfigSyntaxError } from "../config/config-node.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { numberText } from "../diagnostics/number-text.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { type Host, HostError } from "../host/host.ts";
import { readAllowEntry } from "../syntax/allow-entry.ts";
import {
  type ImportedList,
  type ImportedConfig,
  type ReadTable,
  type Row,
  isAddress,
  isFetchable,
  withFiles,
  withUniqueNames,
} from "./imported-config.ts";
import { configReaders } from "./registry.ts";

const SQLITE = "SQLite format 3\0";
const MAX_BYTES = 16 * 1024 * 1024;
/** More than users enter by hand. */
const MOST_ROWS = 250_000;

/** Reads the configuration of other software. Rejects with a `CompilerError`. */
export async function readImportedConfig(path: string, host: Host): Promise<ImportedConfig> {
  const shown = printable(path);
  const absolute = host.path.resolve(host.cwd, path);
  try {
    const isDatabase = await startsAsDatabase(absolute, host);
    if (!isDatabase && (await host.sizeOf(absolute)) > MAX_BYTES)
      throw new HostError("EFBIG", "is too large for a configuration");
    const text = isDatabase ? "" : decodeUtf8(await host.readFile(absolute));
    const table = isDatabase ? await queriedTables(absolute, host) : undefined;
    const file = {
      text,
      tree: isDatabase ? undefined : await treeOf(text, host.path.extname(path)),
      table,
    };
    for (const reader of configReaders) {
      const setup = await reader(file);
      if (setup !== undefined) return await tidied(setup);
    }
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("setup-unreadable", `Cannot read ${shown}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
  throw new CompilerError([errorOf("setup-unknown", `${shown} has no lists in a known format`)]);
}

/** Makes names unique, removes `file://`, and replaces what cannot be imported by a note. */
async function tidied(setup: ImportedConfig): Promise<ImportedConfig> {
  const notes = [...setup.notes];
  const usable = (lists: readonly ImportedList[]): ImportedList[] =>
    withUniqueNames(
      lists
        .map((list) => ({ ...list, source: list.source.replace(/^file:\/\//i, "") }))
        .filter(({ source }) => {
          const isGood = !isAddress(source) || isFetchable(source);
          if (!isGood) notes.push(`Not the URL of a list: ${withoutCredentials(source)}`);
          return isGood && source !== "";
        }),
    );
  const allow = setup.allow.map((entry) => entry.replace(/\s+#.*$/, "").trim());
  const bad = allow.filter((entry) => readAllowEntry(entry) === undefined);
  if (bad.length > 0) notes.push(`Not imported, because they are not names: ${someOf(bad)}`);
  const checked = await withFiles(setup, usable);
  return {
    ...checked,
    lists: usable(checked.lists),
    allow: allow.filter((entry) => !bad.includes(entry)),
    notes,
  };
}

async function startsAsDatabase(path: string, host: Host): Promise<boolean> {
  const file = await host.openFile(path);
  try {
    const bytes = new Uint8Array(SQLITE.length);
    return (await file.read(bytes, 0)) === bytes.length && decodeUtf8(bytes) === SQLITE;
  } finally {
    await file.close();
  }
}

async function queriedTables(path: string, host: Host): Promise<ReadTable> {
  if (host.queryDatabase === undefined)
    throw new HostError(
      "ENOTSUP",
      "this runtime cannot read SQLite; use Node, or export the lists",
    );
  const query = async (text: string): Promise<readonly Row[]> =>
    await host.queryDatabase!(path, text);
  // Views and virtual tables, which have no page, may compute for ever.
  const found = await query("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0");
  const names = new Set(found.map(({ name }) => name));
  return async (name) => {
    if (!names.has(name)) return undefined;
    const rows = await query(`SELECT * FROM "${name}" ORDER BY 1 LIMIT ${MOST_ROWS + 1}`);
    if (rows.length > MOST_ROWS)
      throw new HostError("EFBIG", `${name} has more than ${numberText(MOST_ROWS)} rows`);
    return rows;
  };
}

/** The value of an object in YAML or JSON; undefined for anything else. */
async function treeOf(text: string, extension: string): Promise<unknown> {
  try {
    const json = /^\.jsonc?$/i.test(extension) || text.trimStart().startsWith("{");
    const node = json
      ? (await import("../config/json.ts")).parseJson(text, true)
      : (await import("../config/yaml.ts")).parseYaml(text);
    return node.kind === "object" ? valueOf(node) : undefined;
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return undefined;
    throw error;
  }
}

function valueOf(node: ConfigNode): unknown {
  if (node.kind === "array") return node.items.map(valueOf);
  if (node.kind === "scalar") return node.value;
  const entries = node.entries.map(({ key, node: value }) => [key, valueOf(value)] as const);
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries));
}
