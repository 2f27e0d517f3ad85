/**
 * The proxy that the environment sets for an address: `HTTPS_PROXY` or `HTTP_PROXY`, else `ALL_PROXY`, unless
 * `NO_PROXY` excepts it. Lower case wins, as with curl. Undefined for a direct connection.
 */
export function proxyFor(
  url: URL,
  env: Readonly<Record<string, string | undefined>>,
): URL | undefined {
  const value = (name: string): string => env[name.toLowerCase()] || env[name] || "";
  if (isExcepted(url, value("NO_PROXY"))) return undefined;
  const text =
    value(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") || value("ALL_PROXY");
  if (text === "") return undefined;
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new Error("the URL of the proxy cannot be read");
  const proxy = new URL(address);
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:")
    throw new Error(`a ${proxy.protocol.slice(0, -1)} proxy is not supported; use an http one`);
  return proxy;
}

/** `*`, names (with their subdomains), `.names`, `host:port`, addresses and ranges such as `10.0.0.0/8`. */
function isExcepted(url: URL, list: string): boolean {
  const host = bareHost(url.hostname).toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  for (const word of list.split(/[\s,]+/)) {
    const entry = word.toLowerCase();
    if (entry === "") continue;
    if (entry === "*") return true;
    if (/^[\d.]+\/\d{1,2}$/.test(entry)) {
      if (isInRange(host, entry)) return true;
      continue;
    }
    const { name, only } = /^\[?(?<name>.*?)\]?(?::(?<only>\d+))?$/.exec(
      // An IPv6 address has colons of its own.
      entry.startsWith("[") || entry.split(":").length === 2 ? entry : `[${entry}]`,
    )!.groups as { name: string; only?: string };
    if (only !== undefined && only !== port) continue;
    const bare = name.replace(/^\*?\./, "");
    if (host === bare || host.endsWith(`.${bare}`)) return true;
  }
  return false;
}

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
function isInRange(text: string, range: string): boolean {
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

/** A secret that cannot be printed by accident. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself, for a request. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "(secret)";
  }

  toJSON(): string {
    return "(secret)";
  }
}

/** Milliseconds of a `Retry-After` header, which is seconds or a date; undefined if it is neither. */
export function retryAfterMs(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
