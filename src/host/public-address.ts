/** The part of IPv6 that is assigned to the public internet. */
const GLOBAL_UNICAST = "2000::/3";
/** Ranges that are not public (IANA's special-purpose registries). */
const SPECIAL = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "2001::/23",
  "2001:db8::/32",
  // The former 6bone test network, returned in 2006.
  "3ffe::/16",
  "3fff::/20",
];
/**
 * Ranges that embed the IPv4 address that is finally contacted, in the four bytes from this offset. 64:ff9b:1::/48 is not
 * among them: it is for private translators, whose configuration decides where the IPv4 address is.
 */
const CARRIERS = [
  { range: "::ffff:0:0/96", from: 12 },
  { range: "::ffff:0:0:0/96", from: 12 },
  { range: "64:ff9b::/96", from: 12 },
  { range: "2002::/16", from: 2 },
];

/** Whether a text is an IP address of the public internet. */
export function isPublicAddress(text: string): boolean {
  const bytes = addressBytes(text);
  if (bytes === undefined) return false;
  for (const { range, from } of CARRIERS)
    if (isIn(bytes, range)) return isPublicAddress(bytes.slice(from, from + 4).join("."));
  if (bytes.length === 16 && !isIn(bytes, GLOBAL_UNICAST)) return false;
  return !SPECIAL.some((range) => isIn(bytes, range));
}

/** The host of an address without the brackets of an IPv6 one. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Whether an IP address is in a range such as `10.0.0.0/8`; false if either is invalid. */
export function isInRange(text: string, range: string): boolean {
  const bytes = addressBytes(text);
  return bytes !== undefined && isIn(bytes, range);
}

/** An IP address in the host of an address, without brackets; undefined when it is a name. */
export function literalAddress(hostname: string): string | undefined {
  const text = bareHost(hostname);
  return addressBytes(text) === undefined ? undefined : text;
}

function isIn(bytes: readonly number[], range: string): boolean {
  const [start = "", length = ""] = range.split("/");
  const first = addressBytes(start);
  if (first?.length !== bytes.length || Number(length) > bytes.length * 8) return false;
  for (let bit = 0; bit < Number(length); bit += 8) {
    const mask = 0xff00 >> Math.min(8, Number(length) - bit);
    if (((bytes[bit >> 3]! ^ first[bit >> 3]!) & mask & 0xff) !== 0) return false;
  }
  return true;
}

function groupsOf(part: string): string[] {
  return part === "" ? [] : part.split(":");
}

/** Four or sixteen bytes. */
function addressBytes(text: string): number[] | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) {
    const octets = text.split(".").map(Number);
    return octets.every((octet) => octet < 256) ? octets : undefined;
  }
  const [address = ""] = text.split("%");
  if (!address.includes(":") || !URL.canParse(`http://[${address}]`)) return undefined;
  // The parser has checked it and written it as groups of hexadecimal digits.
  const { hostname } = new URL(`http://[${address}]`);
  const [head = "", tail] = hostname.slice(1, -1).split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...(tail === undefined ? [] : zeros), ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}
