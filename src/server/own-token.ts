import { randomBytes } from "node:crypto";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type NewFile } from "../host/host.ts";
import { temporaryFor } from "../host/write-whole.ts";
import { BearerToken } from "./bearer-token.ts";

const BYTES = 32;
/** Only the owner can read and write the file. */
const PRIVATE = 0o600;

/**
 * The token of a server that was given none. It is new at every start and stands as a header line in a file of the cache, which only the
 * user of the server can read: a connection from this machine proves nothing, because a proxy on it looks the same.
 */
export class OwnToken {
  readonly token: BearerToken;
  readonly #header: string;
  private readonly folder: string | undefined;
  private readonly host: Host;
  private path: string | undefined;

  constructor(folder: string | undefined, host: Host) {
    const text = randomBytes(BYTES).toString("hex");
    this.token = new BearerToken(text);
    this.#header = `Authorization: Bearer ${text}\n`;
    this.folder = folder;
    this.host = host;
  }

  /** Writes the file and returns its path; undefined if it cannot be written. A file or link of another program is replaced. */
  async write(port: number): Promise<string | undefined> {
    const { folder, host } = this;
    if (folder === undefined) return undefined;
    const path = host.path.join(folder, `serve-${port}.header`);
    const temporary = temporaryFor(path);
    let file: NewFile | undefined;
    try {
      await host.makeFolder(folder);
      file = host.createFile(temporary, undefined, PRIVATE);
      file.write(encodeUtf8(this.#header));
      await file.finish();
      file = undefined;
      await host.rename(temporary, path);
    } catch (error) {
      file?.abandon();
      await host.removeFile(temporary).catch(() => {});
      if (error instanceof HostError) return undefined;
      throw error;
    }
    return (this.path = path);
  }

  async remove(): Promise<void> {
    if (this.path !== undefined) await this.host.removeFile(this.path).catch(() => {});
  }
}
