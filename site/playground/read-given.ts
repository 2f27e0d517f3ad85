import { decodeUtf8, encodeUtf8 } from "../../src/bytes/text.ts";
import { CompilerError } from "../../src/diagnostics/render.ts";
import { countText } from "../../src/diagnostics/text.ts";
import { USER_RULES, configText } from "../../src/import/config-text.ts";
import { type ImportedConfig, configOfLists } from "../../src/import/hostlist-compiler.ts";
import { readImportedConfig } from "../../src/import/read-imported-config.ts";
import { browserHost } from "./browser-host.ts";
import type { Added, GivenFile } from "./calls.ts";

/** The bytes of lists by file name. */
export type Lists = Map<string, Uint8Array>;

const SETTINGS = /\.(?:ya?ml|jsonc?)$/i;
/** Larger files are lists. */
const MOST_SETTINGS = 4 * 1024 * 1024;
/** The name of what is pasted. */
const PASTED = "pasted.txt";
const DATABASE =
  "a page does not read databases. For Pi-hole, run: rules-compiler audit /etc/pihole/gravity.db";

/** Takes files as lists, as a configuration, or as settings of other software. Adds lists to those that are there. */
export async function readGiven(given: readonly GivenFile[], lists: Lists): Promise<Added> {
  const notes: string[] = [];
  let config: string | undefined;
  for (const { name, blob } of given) {
    const bytes = await unpacked(blob);
    if (startsWith(bytes, "SQLite format 3")) {
      notes.push(`${name}: ${DATABASE}`);
      continue;
    }
    const text = isSettings(name, bytes) ? decodeUtf8(bytes) : "";
    if (/^\s*(?:"?(?:sources|lists)"?\s*:|\{[^]*"sources"\s*:)/m.test(text)) {
      config = text;
      continue;
    }
    const setup = text === "" ? undefined : await settingsIn(name, bytes);
    if (setup === undefined) lists.set(freeName(name, lists), bytes);
    else config = importedText(setup, lists, notes);
  }
  const files = [...lists].map(([name, { length }]) => ({ name, bytes: length }));
  return { files, config: config ?? textFor(lists), isGiven: config !== undefined, notes };
}

function isSettings(name: string, bytes: Uint8Array): boolean {
  if (bytes.length > MOST_SETTINGS) return false;
  return (
    SETTINGS.test(name) || /^(?:\s*(?:#.*)?\n)*\s*https?:\/\//.test(decodeUtf8(bytes, 0, 4096))
  );
}

async function settingsIn(name: string, bytes: Uint8Array): Promise<ImportedConfig | undefined> {
  try {
    return await readImportedConfig(name, browserHost(new Map([[name, bytes]])));
  } catch (error) {
    if (error instanceof CompilerError) return undefined;
    throw error;
  }
}

/** The configuration that `init --from` would write. */
function importedText(setup: ImportedConfig, lists: Lists, notes: string[]): string {
  const { software, lists: used, userRules, formats = [] } = setup;
  const on = used.filter(({ isOn }) => isOn).length;
  const off = used.length - on;
  notes.push(
    `${software}: ${countText(on, "list")}${off === 0 ? "" : `, ${off} more switched off`}`,
  );
  if (userRules.length > 0) lists.set(USER_RULES, encodeUtf8(`${userRules.join("\n")}\n`));
  return configText({ name: "My list", setup, formats, userRulesFile: USER_RULES });
}

/** A configuration of all files. */
function textFor(lists: Lists): string {
  const all = [...lists.keys()].map((name) => ({
    name: name.replace(/\.[^.]+$/, ""),
    source: name,
    type: "adblock" as const,
    isOn: true,
  }));
  const setup = configOfLists("", all);
  return configText({ name: "My list", setup, formats: [], userRulesFile: USER_RULES });
}

/** Pasted lists are numbered; a file replaces another of the same name. */
function freeName(name: string, lists: Lists): string {
  const clean = name.replace(/\.gz$/i, "");
  for (let number = 2, free = clean; ; number++) {
    if (clean !== PASTED || !lists.has(free)) return free;
    free = `pasted-${number}.txt`;
  }
}

async function unpacked(blob: Blob): Promise<Uint8Array> {
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  const isPacked = head[0] === 0x1f && head[1] === 0x8b;
  const whole = isPacked
    ? new Response(blob.stream().pipeThrough(new DecompressionStream("gzip")))
    : blob;
  return new Uint8Array(await whole.arrayBuffer());
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return decodeUtf8(bytes, 0, Math.min(bytes.length, text.length)) === text;
}
