import { CLASS_OF, Class } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";

/** Names that every hosts file maps to the machine itself. They are not meant as blocked names. */
const LOCAL_NAMES: ReadonlySet<string> = new Set([
  "localhost",
  "localhost.localdomain",
  "local",
  "broadcasthost",
  "ip6-localhost",
  "ip6-loopback",
  "ip6-localnet",
  "ip6-mcastprefix",
  "ip6-allnodes",
  "ip6-allrouters",
  "ip6-allhosts",
]);

const LONGEST = Math.max(...Array.from(LOCAL_NAMES, (name) => name.length));

/** Whether a name may be local, by its first byte and length. Rules out most names without creating a string. */
export function mayBeLocalName(firstByte: number, length: number): boolean {
  const lower = firstByte | 32;
  return length <= LONGEST && (lower === 108 || lower === 98 || lower === 105);
}

export function isLocalName(name: string): boolean {
  return LOCAL_NAMES.has(name.toLowerCase());
}

/** The only local name with a dot. */
const WITH_DOT = "localhost.localdomain".length;

/** Whether a line with so many names is one of a hosts file for the machine itself, such as `::1 localhost`. */
export function isLocalLine(names: number, bytes: Uint8Array, start: number, end: number): boolean {
  let last = end;
  while (last > start && isBlank(bytes, last - 1)) last--;
  let at = last - WITH_DOT;
  if (names === 0) for (at = last; at > start && !isBlank(bytes, at - 1);) at--;
  if (at <= start || !isBlank(bytes, at - 1)) return false;
  return mayBeLocalName(bytes[at]!, last - at) && isLocalName(decodeUtf8(bytes, at, last));
}

function isBlank(bytes: Uint8Array, at: number): boolean {
  return CLASS_OF[bytes[at]!] === Class.Blank;
}
