/** A network of clients. Networks of one family can be compared. */
export interface Network {
  readonly family: 4 | 6;
  /** The address as a number, without the bits of hosts. */
  readonly address: bigint;
  /** Number of bits that are the same for all clients. */
  readonly prefix: number;
}

/** Reads `192.0.2.1`, `192.0.2.0/24` or `2001:db8::/32`. Undefined if the text is something else. */
export function networkOf(text: string): Network | undefined {
  const { address: host = "", prefix: bits } =
    /^(?<address>[\da-f.:]+)(?:\/(?<prefix>\d{1,3}))?$/i.exec(text)?.groups ?? {};
  const family = host.includes(":") ? 6 : 4;
  const size = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? size : Number(bits);
  const number = family === 4 ? readIpv4(host) : readIpv6(host);
  if (number === undefined || prefix > size) return undefined;
  const hosts = BigInt(size - prefix);
  return { family, address: (number >> hosts) << hosts, prefix };
}

/** Whether some clients are in both networks; then one network contains the other. */
export function overlap(one: Network, other: Network): boolean {
  if (one.family !== other.family) return false;
  const hosts = BigInt((one.family === 4 ? 32 : 128) - Math.min(one.prefix, other.prefix));
  return one.address >> hosts === other.address >> hosts;
}

/** The groups of an address, each of `bits` bits, the first one first. */
export function addressParts({ family, address }: Network): number[] {
  const [count, bits] = family === 4 ? ([4, 8] as const) : ([8, 16] as const);
  return Array.from({ length: count }, (_, index) =>
    Number((address >> BigInt(bits * (count - 1 - index))) & BigInt(2 ** bits - 1)),
  );
}

export function networkText(network: Network): string {
  const { family, prefix } = network;
  const parts = addressParts(network);
  if (family === 4) return `${parts.join(".")}/${prefix}`;
  return `${parts.map((part) => part.toString(16)).join(":")}/${prefix}`;
}

function readIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256))
    return undefined;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function readIpv6(text: string): bigint | undefined {
  const sides = text.split("::").map((side) => (side === "" ? [] : side.split(":")));
  const given = sides.flat();
  const isShort = sides.length === 2;
  if (sides.length > 2 || !given.every((part) => /^[\da-f]{1,4}$/i.test(part))) return undefined;
  if (isShort ? given.length > 7 : given.length !== 8) return undefined;
  const zeros = Array.from({ length: 8 - given.length }, () => "0");
  const parts = isShort ? [...sides[0]!, ...zeros, ...sides[1]!] : given;
  return parts.reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}
