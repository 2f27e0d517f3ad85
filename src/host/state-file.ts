import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "./host.ts";
import { removeLeftovers, writeWhole } from "./write-whole.ts";

const ATTEMPTS = 5;

/**
 * A JSON file that stores state for later runs. Another program may have changed it, or a crash may have truncated it: a file
 * that cannot be read, is not JSON or fails the check counts as missing. A file of a newer version is not read and not
 * replaced: all methods then reject with a `CompilerError`.
 */
export class StateFile<T extends object> {
  readonly path: string;
  private readonly isValid: (value: unknown) => value is T;
  private readonly host: Host;
  private readonly version: number;

  /** `version`: the newest that this program knows. */
  constructor(path: string, isValid: (value: unknown) => value is T, host: Host, version = 1) {
    this.path = path;
    this.isValid = isValid;
    this.host = host;
    this.version = version;
  }

  async read(): Promise<T | undefined> {
    const found = await this.look();
    return typeof found === "string" ? undefined : found;
  }

  /** The same for callers that report a damaged file. */
  async look(): Promise<T | "missing" | "damaged"> {
    try {
      const text = new TextDecoder().decode(await this.host.readFile(this.path));
      const value: unknown = JSON.parse(text);
      this.refuseNewer(value);
      return this.isValid(value) ? value : "damaged";
    } catch (error) {
      if (error instanceof HostError) return error.code === "ENOENT" ? "missing" : "damaged";
      if (error instanceof SyntaxError) return "damaged";
      throw error;
    }
  }

  private refuseNewer(value: unknown): void {
    const { version } = (value ?? {}) as { readonly version?: unknown };
    if (typeof version !== "number" || version <= this.version) return;
    const message = `${printable(this.path)} was written by a newer rules-compiler`;
    const cause = `its version is ${version}, and this one knows ${this.version}`;
    throw new CompilerError([errorOf("newer-state", message, { cause })]);
  }

  /** Replaces the file atomically. Rejects with a `HostError`. */
  async write(value: T, indent?: number): Promise<void> {
    await this.look();
    const text = `${JSON.stringify(value, undefined, indent)}\n`;
    await writeWhole(this.path, this.host, (file) => file.write(new TextEncoder().encode(text)));
  }

  /**
   * Like `write`, and removes temporary files of killed runs, for state that runs write without a lock. Another run may take
   * the temporary file of this one for such a file, so this one writes again.
   */
  async replace(value: T, indent?: number): Promise<void> {
    await removeLeftovers(this.path, this.host);
    for (let attempt = 1; ; attempt++)
      try {
        return await this.write(value, indent);
      } catch (error) {
        const isRemoved = error instanceof HostError && error.code === "ENOENT";
        if (!isRemoved || attempt === ATTEMPTS) throw error;
      }
  }

  /** Like `replace`, but ignores failures, for state that later runs can do without. */
  async tryReplace(value: T, indent?: number): Promise<void> {
    try {
      await this.replace(value, indent);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }
}
