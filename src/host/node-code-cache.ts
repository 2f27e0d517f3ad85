import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir, platform } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Script } from "node:vm";

type Start = (argv: readonly string[], began: (command: string) => void) => Promise<number>;

/**
 * Starts the bundled program with code that an earlier run of the same command compiled. Node's own cache has no function that is
 * compiled when it is first called, as nearly all are: reading and compiling them took 75 of the 150 ms of the smallest compile
 * (2026-11, Node 24).
 */
export async function startCached(program: URL, argv: readonly string[]): Promise<number> {
  const file = fileURLToPath(program);
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  const folder = bun === undefined && deno === undefined ? codeFolder(cacheDir()) : undefined;
  if (folder === undefined) {
    const { start } = createRequire(program)(file) as { readonly start: Start };
    return await start(argv, () => {});
  }
  const scripts = new CachedScripts(program, folder);
  const { start } = scripts.load(file) as { readonly start: Start };
  const exit = await start(argv, (command) => (scripts.command = command));
  // Functions that a failed run did not reach would be missing.
  if (exit === 0) scripts.save();
  return exit;
}

/** An import of a module of Node would read all its exports, and so load what they need. */
async function importOther(id: string): Promise<unknown> {
  return id.startsWith("node:") ? process.getBuiltinModule(id) : await import(id);
}

/** The names of what a script of the bundle gets. */
const PARAMETERS = "exports, require, module, __filename, __dirname, $import";

type Wrapped = (
  exports: object,
  require: (id: string) => unknown,
  ...rest: readonly unknown[]
) => void;

interface Compiled {
  readonly script: Script;
  /** Of its text. */
  readonly sum: number;
  /** Where its code belongs. */
  readonly place: string;
}

/** Scripts of the bundle. Each is loaded once, and its code stored once for each command. */
class CachedScripts {
  /** Set before the scripts of the command are loaded: each command runs other functions. */
  command = "start";
  private readonly folder: string;
  private readonly requireOther: NodeJS.Require;
  private readonly modules = new Map<string, { exports: object }>();
  private readonly unsaved: Compiled[] = [];

  constructor(program: URL, folder: string) {
    this.folder = folder;
    this.requireOther = createRequire(program);
  }

  load(file: string): object {
    const known = this.modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.modules.set(file, module);
    const text = readFileSync(file);
    const sum = sumOf(text, 0);
    // The build escapes other characters than ASCII.
    const code = `(function (${PARAMETERS}) { ${text.toString("latin1")}\n})`;
    const place = join(
      this.folder,
      `${basename(file)}.${this.command}.${process.version}-${process.arch}`,
    );
    const cachedData = storedAt(place, sum);
    const { Script: Code } = process.getBuiltinModule("node:vm");
    const script = new Code(code, { filename: file, ...(cachedData && { cachedData }) });
    if (script.cachedDataRejected !== false) this.unsaved.push({ script, sum, place });
    const folder = dirname(file);
    const require = (id: string): unknown => {
      if (id.startsWith("./") || id.startsWith("../")) return this.load(join(folder, id));
      return id.startsWith("node:") ? process.getBuiltinModule(id) : this.requireOther(id);
    };
    const wrapped = script.runInThisContext() as Wrapped;
    wrapped(module.exports, require, module, file, folder, importOther);
    return module.exports;
  }

  /** Stores the code of scripts that were compiled, and removes that of other versions of them. A failure costs only time. */
  save(): void {
    try {
      for (const { script, sum, place } of this.unsaved) {
        const draft = `${place}.${process.pid}`;
        writeFileSync(draft, withSum(script.createCachedData(), sum), { mode: 0o600 });
        renameSync(draft, place);
      }
      const scripts = [...this.modules.keys()].map((file) => basename(file));
      if (this.unsaved.length > 0) removeOthers(this.folder, scripts);
    } catch {
      // The next run compiles it again.
    }
  }
}

/** Of `compile-1a2b3c4d.cjs.why.v24.1.0-x64`, the names of the script with and without its hash. */
const STORED = /^(?<script>(?<stage>\w[\w-]*)-[\w-]{8}\.cjs)\./;

/** Removes the code of other versions of the program. */
function removeOthers(folder: string, scripts: readonly string[]): void {
  const stages = new Set(scripts.map((script) => STORED.exec(`${script}.`)?.groups?.["stage"]));
  for (const name of readdirSync(folder)) {
    const { script = "", stage } = STORED.exec(name)?.groups ?? {};
    if (stages.has(stage) && !scripts.includes(script)) unlinkSync(join(folder, name));
  }
}

const SUM_BYTES = 4;

function sumOf(bytes: Buffer, before: number): number {
  return process.getBuiltinModule("node:zlib").crc32(bytes, before);
}

/** V8 does not check whether stored code is damaged, or of another text of the same length, and would run it. */
function withSum(code: Buffer, ofText: number): Buffer {
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(sumOf(code, ofText));
  return Buffer.concat([code, sum]);
}

function storedAt(place: string, ofText: number): Buffer | undefined {
  try {
    const stored = readFileSync(place);
    const code = stored.subarray(0, -SUM_BYTES);
    return sumOf(code, ofText) === stored.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  }
}

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * A folder beside `cache` for compiled code, created if missing; undefined if other users could put code into it, which
 * would run as this user. Node itself does not check, and would use a shared folder. It is not in the cache, which is restored from
 * elsewhere in CI.
 */
export function codeFolder(cache: string | undefined): string | undefined {
  if (cache === undefined) return undefined;
  const folder = `${cache}-code`;
  for (const path of [dirname(cache), cache, folder]) make(path);
  try {
    const user = process.getuid?.();
    // On Windows, only the user can write below the user's own folder.
    if (user === undefined) return folder;
    const info = lstatSync(folder);
    const isOurs = info.isDirectory() && info.uid === user && (info.mode & 0o077) === 0;
    return isOurs && isSafeBelow(dirname(realpathSync(folder)), user) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function make(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch {
    // It exists or cannot be created; the caller checks it.
  }
}

/** Whether only this user and root can replace a part of the path to a folder. The path must not contain links. */
function isSafeBelow(folder: string, user: number): boolean {
  const { uid, mode } = lstatSync(folder);
  const isKept = (mode & OTHERS_MAY_WRITE) === 0 || (mode & STICKY) !== 0;
  if (!isKept || (uid !== user && uid !== 0)) return false;
  return dirname(folder) === folder || isSafeBelow(dirname(folder), user);
}

/** `$XDG_CACHE_HOME` or `~/.cache`; `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows. */
export function cacheDir(): string | undefined {
  const { env } = process;
  try {
    if (platform() === "win32") {
      const local = env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local");
      return join(local, "rules-compiler", "cache");
    }
    const named = env["XDG_CACHE_HOME"];
    if (named !== undefined && named.startsWith("/")) return join(named, "rules-compiler");
    const home = homedir();
    if (home === "" || home === "/") return undefined;
    return platform() === "darwin"
      ? join(home, "Library", "Caches", "rules-compiler")
      : join(home, ".cache", "rules-compiler");
  } catch {
    return undefined;
  }
}

/** The text of a small file; undefined if it cannot be read. */
export function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
