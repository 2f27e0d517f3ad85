import { BUILD } from "../library/programs.ts";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf, someOf } from "../diagnostics/text.ts";
import { temporaryFor } from "../host/files.ts";
import {
  type Host,
  HostError,
  type NewFile,
  type WebReply,
  type WebRequest,
} from "../host/host.ts";
import { PAGE_STYLE } from "../pages/html.ts";

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
      file.write(new TextEncoder().encode(this.#header));
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

/** The headers of a reply to a request without a valid token. */
export const CHALLENGE: Readonly<Record<string, string>> = {
  "www-authenticate": 'Bearer realm="rules-compiler"',
};

/** Shorter tokens could be guessed. */
const SHORTEST = 16;
const LONGEST = 4096;
/** The permission bit of users other than the owner and the group. */
const OTHERS_READ = 0o004;

/** Who has a token. */
interface TokenHolder {
  /** Empty for a token without a name. */
  readonly name: string;
}

/** Tokens that requests may present. Only their digests are kept, so that they cannot be printed. */
export class BearerToken {
  readonly #digests: readonly (readonly [name: string, digest: Uint8Array])[];

  constructor(...tokens: readonly (string | readonly [name: string, token: string])[]) {
    this.#digests = tokens.map((one) =>
      typeof one === "string" ? ["", digestOf(one)] : [one[0], digestOf(one[1])],
    );
  }

  /** Who has the token of an `Authorization` header. Takes the same time for every wrong one. */
  holderIn(authorization: string | undefined): TokenHolder | undefined {
    const given = /^bearer +(?<token>[\x21-\x7e]+)$/i.exec(authorization ?? "")?.groups?.["token"];
    const digest = digestOf(given ?? "");
    const found = this.#digests.filter(([, own]) => timingSafeEqual(digest, own));
    return given === undefined || found.length === 0 ? undefined : { name: found[0]![0] };
  }

  isIn(authorization: string | undefined): boolean {
    return this.holderIn(authorization) !== undefined;
  }
}

function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/** A line of a token file: a token, or a name and a token. */
const TOKEN_LINE = /^(?:(?<name>[\w.@-]{1,64}) )?(?<token>[\x21-\x7e]+)$/;

/**
 * Reads tokens: one line of visible ASCII characters, or lines with a name and a token each. Rejects with a `CompilerError` that does not
 * repeat them.
 */
export async function readToken(file: string, host: Host): Promise<BearerToken> {
  const path = host.path.resolve(host.cwd, file);
  let text: string;
  try {
    if ((((await host.modeOf?.(path)) ?? 0) & OTHERS_READ) !== 0)
      throw problem("Other users can read the token file", file, { hint: "Run: chmod 600 FILE" });
    text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await host.readFile(path));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const cause = reasonOf(error.code, error.message);
    throw problem("The token file cannot be read", file, { cause });
  }
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  const found = lines.map((line) => TOKEN_LINE.exec(line)?.groups ?? {});
  const isGood = found.every(({ name, token = "" }) => {
    const isNamed = name !== undefined || lines.length === 1;
    return isNamed && token.length >= SHORTEST && token.length <= LONGEST;
  });
  const names = found.map(({ name }) => name);
  if (isGood && new Set(names).size === names.length)
    return new BearerToken(...found.map(({ name = "", token }) => [name, token!] as const));
  const message = `The token file must contain one line of ${SHORTEST} to ${LONGEST} visible ASCII characters, or lines with a name, a space and a token each`;
  throw problem(message, file);
}

function problem(
  message: string,
  file: string,
  more: Parameters<typeof errorOf>[2] = {},
): CompilerError {
  return new CompilerError([
    errorOf("bad-token-file", message, { at: { file: printable(file) }, ...more }),
  ]);
}

/** Ends of names that no server of the public DNS can have. */
const PRIVATE_ENDS =
  /\.(?:corp|home|home\.arpa|internal|intranet|lan|local|localdomain|localhost|private|svc|test)$/;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Whether a request names this server by a host name that no web site can use for it: any site may let a name of its own resolve to this
 * machine, and read from it what the browser of a visitor can reach. IP addresses, names without a dot and names of private
 * networks are not names of sites; others must be given.
 */
export function isKnownHost(host: string | undefined, given: readonly string[]): boolean {
  // Browsers always name the host.
  if (host === undefined || host === "") return true;
  const isIpv6 = /^\[[\d:a-f.]+\](?::\d+)?$/i.test(host);
  const name = host.replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
  if (isIpv6 || IPV4.test(name) || given.includes(name)) return true;
  const isName = /^[\w-]+(?:\.[\w-]+)*$/.test(name);
  return isName && (!name.includes(".") || PRIVATE_ENDS.test(name));
}

/** What a POST request can ask for. */
export const ACTIONS = ["compile", "rollback", "hold"] as const;
export type Action = (typeof ACTIONS)[number];

/** A permitted request to change what is published. */
export interface ActionRequest {
  readonly action: Exclude<Action, "compile">;
  readonly list: string;
  /** `@1`, `@2026-11-14`. */
  readonly build?: string;
  /** Whether the hold ends. */
  readonly end: boolean;
  /** The name of the token, if it has one, and the address of the client. */
  readonly from: string;
}

const PARAMETERS: Readonly<Record<Action, readonly string[]>> = {
  compile: [],
  rollback: ["list", "to"],
  hold: ["list", "to", "end"],
};

/** Why a request may not act; undefined if it may. Only the token counts: a proxy on this machine looks like a local process. */
export function refusalOf(
  { headers, method }: WebRequest,
  token: BearerToken,
): WebReply | undefined {
  if (method !== "POST") return textReply(405, "Use POST\n", { allow: "POST" });
  // A page of any site can send requests to this machine; browsers name the site or say where the request comes from.
  const isPage = headers["origin"] !== undefined || headers["sec-fetch-site"] !== undefined;
  if (isPage) return textReply(403, "Not from a browser\n");
  if (token.isIn(headers["authorization"])) return undefined;
  const where = "It is in the file that the server names in its log when it starts: curl -H @FILE";
  return textReply(
    401,
    `A valid token is needed: Authorization: Bearer TOKEN. ${where}\n`,
    CHALLENGE,
  );
}

/** The parameters of a permitted request, or the reply to a request that has others than it may. */
export function parametersOf(
  action: Action,
  request: WebRequest,
  lists: readonly string[],
  name = "",
): ActionRequest | "compile" | WebReply {
  const { target, address, headers } = request;
  const query = new URLSearchParams(target.split("?").slice(1).join("?"));
  const keys = [...query.keys()];
  const unknown = keys.find((key) => !PARAMETERS[action].includes(key));
  const known = someOf(PARAMETERS[action]) || "none";
  if (unknown !== undefined || new Set(keys).size < keys.length)
    return textReply(400, `Unknown or repeated parameter. Known: ${known}\n`);
  if (action === "compile") return "compile";
  const hasBody =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
  if (hasBody)
    return textReply(415, `Send no body; parameters belong in the query. Known: ${known}\n`);
  const list = query.get("list") ?? (lists.length === 1 ? lists[0]! : "");
  if (!lists.includes(list)) return textReply(404, `Add list=, one of: ${someOf(lists)}\n`);
  const to = query.get("to");
  const build = to === null ? undefined : `@${to.replace(/^@/, "")}`;
  if (build !== undefined && !BUILD.test(build))
    return textReply(400, "to= must be a build such as 1 or 2026-11-14\n");
  const end = query.get("end");
  if (end !== null && !/^(?:|[01]|true|false)$/.test(end))
    return textReply(400, "end= must be 1 or 0\n");
  const from = name === "" ? address : `${name} from ${address}`;
  const isEnd = /^(?:|1|true)$/.test(end ?? "0");
  if (isEnd && build !== undefined) return textReply(400, "end takes no to=\n");
  return { action, list, ...(build !== undefined && { build }), end: isEnd, from };
}

const STYLE_HASH = createHash("sha256").update(PAGE_STYLE).digest("base64");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** A page with the style of all pages, and no script. */
export function pageReply(status: number, body: string | Uint8Array): WebReply {
  return { status, headers: PAGE_HEADERS, body };
}

export function textReply(
  status: number,
  body: WebReply["body"],
  more: Record<string, string> = {},
): WebReply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...more },
    body,
  };
}

export function jsonReply(
  status: number,
  value: object,
  more: Record<string, string> = {},
): WebReply {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...more },
    body: `${JSON.stringify(value, undefined, 2)}\n`,
  };
}
