import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type NewFile, type ProcessId } from "../host/host.ts";

/** What stands in a lock. */
interface Holder extends ProcessId {
  /** Told apart from any other lock by this. */
  readonly token: string;
  readonly since: string;
}

/** Who holds a lock says so this often, ... */
const BEAT_MS = 10_000;
/** ... and is given up when nothing was heard for this long, unless it can be seen whether it runs. */
const SILENCE_MS = 120_000;
/** A lock that cannot be read is being written, or was when its writer died. */
const UNREADABLE_MS = 5000;
const TRIES = 5;

/**
 * Keeps a second run from a list that is being made. The lock is a file beside the list, so it works for all who share the
 * folder. On one machine a holder that was killed is seen to be gone; of one in another container only its silence tells.
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

  /** Rejects with a `CompilerError` when another run holds it, with a `HostError` when it cannot be written. */
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

  /** Whether nobody has taken it away meanwhile. To be asked before anything is published. */
  async isOurs(): Promise<boolean> {
    const holder = await readHolder(this.path, this.host);
    return typeof holder === "object" && holder.token === this.token;
  }

  async release(): Promise<void> {
    clearInterval(this.beat);
    if (await this.isOurs()) await this.host.removeFile(this.path).catch(() => {});
  }
}

/** The lock is written whole under another name first, so that one which is there can be read. */
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

/** False when another run has the lock, or cleared this one away with what it took for leftovers. */
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

/** A name that is cleared away like any other that a killed run leaves. */
function asideOf(path: string): string {
  return `${path.replace(/\.lock$/, "")}.${Math.random().toString(36).slice(2, 10)}.tmp`;
}

async function readHolder(path: string, host: Host): Promise<Holder | "gone" | undefined> {
  try {
    const holder = JSON.parse(decodeUtf8(await host.readFile(path))) as Partial<Holder> | null;
    const isWhole = typeof holder?.pid === "number" && typeof holder.token === "string";
    return isWhole ? (holder as Holder) : undefined;
  } catch (error) {
    if (error instanceof HostError) return error.code === "ENOENT" ? "gone" : undefined;
    return undefined;
  }
}

async function isHeld(path: string, holder: Holder | undefined, host: Host): Promise<boolean> {
  const silence = host.now().getTime() - ((await host.stampOf(path))?.changed ?? 0);
  if (holder === undefined) return Math.abs(silence) < UNREADABLE_MS;
  return host.isRunning(holder) ?? Math.abs(silence) < SILENCE_MS;
}

/** Takes a dead lock away. Should somebody else have done so and taken it meanwhile, it is put back. */
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
    errorOf("locked", `${printable(output)} is being made by ${who}${since}`),
  ]);
}
