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
