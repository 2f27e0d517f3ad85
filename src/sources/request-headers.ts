import { decodeUtf8 } from "../bytes/utf8.ts";
import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { HostError } from "../host/host.ts";
import { Secret } from "../host/secret.ts";
import { sourceError } from "./source-error.ts";

/** Files with the keys of a source. */
export interface KeyFiles {
  readonly headers: string | undefined;
  readonly bearer: string | undefined;
  readonly basic: string | undefined;
}

/** Headers with keys, for one server only. */
export interface RequestHeaders {
  /** The server of the source. No other one gets them, neither by a redirect nor as a mirror. */
  readonly origin: string;
  readonly headers: ReadonlyMap<string, Secret>;
}

/** The permission bits of the group and of other users. */
const NOT_OWNER = 0o077;
/** Headers that belong to the connection or to the cache. */
const OWN =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|range|accept-encoding|if-.*|proxy-.*)$/;
const HEADER =
  /^(?<name>[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100})[ \t]*:[ \t]*(?<value>[\x20-\x7e]{1,4096})$/;

/** Reads the keys of a source; undefined if it has none. Rejects with a `CompilerError` that does not repeat them. */
export async function readRequestHeaders(
  url: string,
  files: KeyFiles,
  host: Host,
  warn: (warning: Diagnostic) => void,
): Promise<RequestHeaders | undefined> {
  const headers = new Map<string, Secret>();
  const linesOf = async (file: string): Promise<string[]> => await readLines(file, host, warn);
  if (files.headers !== undefined)
    for (const [index, line] of (await linesOf(files.headers)).entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      const { name = "", value = "" } = HEADER.exec(line.trim())?.groups ?? {};
      if (value === "" || OWN.test(name.toLowerCase()))
        throw badKeys(files.headers, `line ${index + 1} must be a name, a colon and a value`);
      headers.set(name.toLowerCase(), new Secret(value));
    }
  if (files.bearer !== undefined) {
    const [token = "", ...more] = await linesOf(files.bearer);
    if (!/^[\x21-\x7e]{1,4096}$/.test(token) || more.length > 0)
      throw badKeys(files.bearer, "it must contain one line without spaces");
    headers.set("authorization", new Secret(`Bearer ${token}`));
  }
  if (files.basic !== undefined) {
    const [pair = "", ...more] = await linesOf(files.basic);
    if (!/^[\x20-\x39\x3b-\x7e]{1,1000}:[\x20-\x7e]{1,1000}$/.test(pair) || more.length > 0)
      throw badKeys(files.basic, "it must contain one line: a user name, a colon and a password");
    headers.set("authorization", new Secret(`Basic ${btoa(pair)}`));
  }
  return headers.size === 0 ? undefined : { origin: new URL(url).origin, headers };
}

/** The headers for a request to this address. */
export function headersFor(url: URL, keys: RequestHeaders | undefined): Record<string, string> {
  if (keys === undefined || url.origin !== keys.origin) return {};
  return Object.fromEntries([...keys.headers].map(([name, secret]) => [name, secret.reveal()]));
}

async function readLines(
  file: string,
  host: Host,
  warn: (warning: Diagnostic) => void,
): Promise<string[]> {
  let text: string;
  try {
    text = decodeUtf8(await host.readFile(file));
    if ((((await host.modeOf?.(file)) ?? 0) & NOT_OWNER) !== 0)
      warn(warningOf("key-file-open", `Other users of this machine may read ${printable(file)}`));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw badKeys(file, `it cannot be read: ${error.code}`);
  }
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function badKeys(file: string, cause: string): Error {
  return sourceError("bad-key-file", `${printable(file)} cannot be used`, cause);
}
