import { createHash, timingSafeEqual } from "node:crypto";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";

/** The headers of a reply to a request without a valid token. */
export const CHALLENGE: Readonly<Record<string, string>> = {
  "www-authenticate": 'Bearer realm="rules-compiler"',
};

/** Shorter tokens could be guessed. */
const SHORTEST = 16;
const LONGEST = 4096;
/** The permission bit of users other than the owner and the group. */
const OTHERS_READ = 0o004;

/** A token that requests must present. Only its digest is kept, so that it cannot be printed. */
export class BearerToken {
  readonly #digest: Uint8Array;

  constructor(token: string) {
    this.#digest = digestOf(token);
  }

  /** Whether an `Authorization` header has the token. Takes the same time for every wrong one. */
  isIn(authorization: string | undefined): boolean {
    const given = /^bearer +(?<token>[\x21-\x7e]+)$/i.exec(authorization ?? "")?.groups?.["token"];
    return timingSafeEqual(digestOf(given ?? ""), this.#digest) && given !== undefined;
  }
}

function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/** Reads a token: one line of visible ASCII characters. Rejects with a `CompilerError` that does not repeat it. */
export async function readToken(file: string, host: Host): Promise<BearerToken> {
  const path = host.path.resolve(host.cwd, file);
  let text: string;
  try {
    if ((((await host.modeOf?.(path)) ?? 0) & OTHERS_READ) !== 0)
      throw problem("Other users can read the token file", file, { hint: "Run: chmod 600 FILE" });
    text = decodeUtf8(await host.readFile(path));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const cause = reasonOf(error.code, error.message);
    throw problem("The token file cannot be read", file, { cause });
  }
  const token = text.replace(/\r?\n$/, "");
  if (token.length >= SHORTEST && token.length <= LONGEST && /^[\x21-\x7e]+$/.test(token))
    return new BearerToken(token);
  const message = `The token file must contain one line of ${SHORTEST} to ${LONGEST} visible ASCII characters`;
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
