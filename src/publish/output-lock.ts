import { encodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type NewFile, type ProcessId } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";

/** The contents of a lock file. */
interface Holder extends ProcessId {
  /** Unique for each lock. */
  readonly token: string;
  readonly since: string;
}

/** How often the holder updates the time of the lock file. */
const BEAT_MS = 10_000;
/** Without an update for this long, the lock counts as abandoned, unless the process can be checked. */
const SILENCE_MS = 120_000;
/** An unreadable lock may still be written; after this time its writer has died. */
const UNREADABLE_MS = 5000;
const TRIES = 5;

/**
 * Prevents concurrent runs for the same list. The lock is a file beside the list, so it works for all machines that share the folder.
 * On the same machine, the process of the holder is checked; in another container, only the time of the lock file shows that it died.
 */
export class OutputLock {
  private readonly path: string;
  private readonly host: Host;
  private readonly token: string;
  private readonly beat: ReturnType<typeof setInterval>;

  private constructor(path: string, token: string, host: Host) {
    this.path = path;
    this.host = host;
    this.token = token;
    this.beat = setInterval(() => void host.touch(path).catch(() => {}), BEAT_MS);
    this.beat.unref?.();
  }

  /** Rejects with a `CompilerError` if another run holds the lock, with a `HostError` if it cannot be written. */
  static async take(output: string, host: Host): Promise<OutputLock> {
    const path = host.path.join(host.path.dirname(output), `.${host.path.basename(output)}.lock`);
    const token = Math.random().toString(36).slice(2);
    const holder: Holder = { ...host.processId(), token, since: host.now().toISOString() };
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (await create(path, JSON.stringify(holder), host))
        return new OutputLock(path, token, host);
      const other = await readHolder(path, host);
      if (other === "gone") continue;
      if (await isHeld(path, other, host)) throw locked(output, other);
      await breakLock(path, other, host);
    }
    throw locked(output, undefined);
  }

  /** Whether this run still holds the lock. Must be checked before publishing. */
  async isOurs(): Promise<boolean> {
    const holder = await readHolder(this.path, this.host);
    return typeof holder === "object" && holder.token === this.token;
  }

  async release(): Promise<void> {
    clearInterval(this.beat);
    if (await this.isOurs()) await this.host.removeFile(this.path).catch(() => {});
  }
}

/** Writes the lock under another name first, so that a lock file is always complete. */
async function create(path: string, text: string, host: Host): Promise<boolean> {
  const aside = asideOf(path);
  let file: NewFile | undefined;
  try {
    file = host.createFile(aside);
    file.write(encodeUtf8(text));
    await file.finish();
    file = undefined;
    return await linked(aside, path, host);
  } catch (error) {
    file?.abandon();
    throw error;
  } finally {
    await host.removeFile(aside).catch(() => {});
  }
}

/** False if another run has the lock, or removed this file as a leftover. */
async function linked(aside: string, path: string, host: Host): Promise<boolean> {
  try {
    await host.link(aside, path);
    return true;
  } catch (error) {
    if (error instanceof HostError && (error.code === "EEXIST" || error.code === "ENOENT"))
      return false;
    throw error;
  }
}

/** A name that later runs recognize as a leftover of a killed run. */
function asideOf(path: string): string {
  return `${path.replace(/\.lock$/, "")}.${Math.random().toString(36).slice(2, 10)}.tmp`;
}

async function readHolder(path: string, host: Host): Promise<Holder | "gone" | undefined> {
  // Whatever goes wrong, a lock that cannot be read is still a lock.
  const found = await new StateFile(path, isHolder, host).look().catch(() => "damaged" as const);
  if (found === "missing") return "gone";
  return found === "damaged" ? undefined : found;
}

function isHolder(value: unknown): value is Holder {
  const { pid, token } = (value ?? {}) as Partial<Holder>;
  return typeof pid === "number" && typeof token === "string";
}

async function isHeld(path: string, holder: Holder | undefined, host: Host): Promise<boolean> {
  const silence = host.now().getTime() - ((await host.stampOf(path))?.changed ?? 0);
  if (holder === undefined) return Math.abs(silence) < UNREADABLE_MS;
  return host.isRunning(holder) ?? Math.abs(silence) < SILENCE_MS;
}

/** Removes an abandoned lock. If another run replaced it meanwhile, its lock is put back. */
async function breakLock(path: string, dead: Holder | undefined, host: Host): Promise<void> {
  const aside = asideOf(path);
  try {
    await host.rename(path, aside);
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return;
    throw error;
  }
  const taken = await readHolder(aside, host);
  const isSame = typeof taken === "object" ? taken.token === dead?.token : dead === undefined;
  if (isSame || (await host.exists(path))) await host.removeFile(aside);
  else await host.rename(aside, path);
}

function locked(output: string, holder: Holder | undefined): CompilerError {
  const who =
    holder === undefined
      ? "another run"
      : `process ${holder.pid} on ${printable(holder.machine.split(" ")[0] ?? "")}`;
  const since = holder === undefined ? "" : `, since ${printable(holder.since)}`;
  return new CompilerError([
    errorOf("locked", `${printable(output)} is being built by ${who}${since}`),
  ]);
}
