import { extname, resolve } from "node:path";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { type ConfigNode, ConfigSyntaxError } from "../config/config-node.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { type Host, HostError } from "../host/host.ts";
import { readAllowEntry } from "../syntax/allow-entry.ts";
import { type ForeignList, type ForeignSetup, withOwnNames } from "./foreign-setup.ts";
import { foreignReaders } from "./registry.ts";

const SQLITE = "SQLite format 3\0";
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads what other software is set up with. Rejects with a `CompilerError`. */
export async function readSetup(path: string, host: Host): Promise<ForeignSetup> {
  const shown = printable(path);
  const absolute = resolve(host.cwd, path);
  try {
    const isDatabase = await startsAsDatabase(absolute, host);
    if (!isDatabase && (await host.sizeOf(absolute)) > MAX_BYTES)
      throw new HostError("EFBIG", "is too large for a configuration");
    const text = isDatabase ? "" : decodeUtf8(await host.readFile(absolute));
    const rows = isDatabase ? await database(absolute, host) : undefined;
    const file = { text, tree: isDatabase ? undefined : await treeOf(text, path), rows };
    for (const reader of foreignReaders) {
      const setup = await reader(file);
      if (setup !== undefined) return tidied(setup);
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

/** With names that differ, paths without `file://`, and without what cannot be taken over, which is said. */
function tidied(setup: ForeignSetup): ForeignSetup {
  const notes = [...setup.notes];
  const usable = (lists: readonly ForeignList[]): ForeignList[] =>
    withOwnNames(
      lists
        .map((list) => ({ ...list, source: list.source.replace(/^file:\/\//i, "") }))
        .filter(({ source }) => {
          const isGood = !/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || URL.canParse(source);
          if (!isGood) notes.push(`Not a URL: ${withoutCredentials(source)}`);
          return isGood && source !== "";
        }),
    );
  const allow = setup.allow.map((entry) => entry.replace(/\s+#.*$/, "").trim());
  const bad = allow.filter((entry) => readAllowEntry(entry) === undefined);
  if (bad.length > 0) notes.push(`Not imported, because they are not names: ${someOf(bad)}`);
  return {
    ...setup,
    lists: usable(setup.lists),
    allowLists: usable(setup.allowLists),
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

async function database(
  path: string,
  host: Host,
): Promise<(query: string) => Promise<readonly Record<string, unknown>[]>> {
  if (host.queryDatabase === undefined)
    throw new HostError(
      "ENOTSUP",
      "this runtime cannot read SQLite; use Node, or export the lists",
    );
  return async (query) => await host.queryDatabase!(path, query);
}

/** Settings as plain values; undefined for what is neither YAML nor JSON with an object in it. */
async function treeOf(text: string, path: string): Promise<unknown> {
  try {
    const json = /^\.jsonc?$/i.test(extname(path)) || text.trimStart().startsWith("{");
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
