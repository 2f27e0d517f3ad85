import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import type { RequestHeaders } from "./request-headers.ts";

/** A piece of a key of this length is hidden. Shorter values of headers are not keys. */
const PIECE = 8;

/**
 * The same error without what a server may repeat of a request with keys: the start of its answer, and pieces of the keys anywhere
 * else.
 */
export function hideAnswer(
  error: CompilerError,
  keys: RequestHeaders | undefined,
  isSecret: boolean,
): CompilerError {
  if (keys === undefined && !isSecret) return error;
  const pieces = piecesOf(keys);
  const diagnostics = error.diagnostics.map((one): Diagnostic => {
    const { code, message, cause } = one;
    const quotes = code === "source-not-list" || code === "source-is-html";
    const shown = quotes ? "its start is not shown, because it may repeat the key" : cause;
    return {
      ...one,
      message: without(pieces, message),
      ...(shown !== undefined && { cause: without(pieces, shown) }),
    };
  });
  return new CompilerError(diagnostics);
}

/** All pieces of the values, and of what they encode. */
function piecesOf(keys: RequestHeaders | undefined): ReadonlySet<string> {
  const pieces = new Set<string>();
  for (const secret of keys?.headers.values() ?? []) {
    const value = secret.reveal();
    const basic = /^Basic (?<pair>[A-Za-z0-9+/=]+)$/.exec(value)?.groups?.["pair"];
    for (const text of [value, ...(basic === undefined ? [] : decoded(basic))])
      for (let at = 0; at + PIECE <= text.length; at++) pieces.add(text.slice(at, at + PIECE));
  }
  return pieces;
}

function decoded(pair: string): string[] {
  try {
    return [atob(pair)];
  } catch {
    return [];
  }
}

function without(pieces: ReadonlySet<string>, text: string): string {
  let shown = "";
  let hiddenTo = 0;
  for (let at = 0; at < text.length; at++) {
    if (pieces.has(text.slice(at, at + PIECE))) {
      if (at >= hiddenTo) shown += "…";
      hiddenTo = at + PIECE;
    }
    if (at >= hiddenTo) shown += text[at]!;
  }
  return shown;
}
