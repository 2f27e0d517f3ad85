import { printable } from "./printable.ts";

/** Failures of connections, which the system names only by a call and a code. */
const PLAIN: Readonly<Record<string, string>> = {
  EAI_AGAIN: "the name server did not answer",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ENOTFOUND: "the name has no address",
  EPIPE: "the connection was closed",
};

/** The system's words for a refusal, without the code twice and without the call it came from. */
export function reasonOf(code: string, message: string): string {
  // Such as "connect ECONNREFUSED 192.0.2.1:443" and "read ECONNRESET".
  const [, named, where] = /^\w+ ([A-Z][A-Z0-9_]+)(?: (\S+))?$/.exec(message) ?? [];
  const plain = named === code ? PLAIN[code] : undefined;
  if (plain !== undefined)
    return printable(`${code}: ${plain}${where === undefined ? "" : ` (${where})`}`);
  const words = message.replace(/^[A-Z][A-Z0-9_]+: /, "").replace(/, \w+ '.*'$/s, "");
  return printable(`${code}: ${words}`);
}
