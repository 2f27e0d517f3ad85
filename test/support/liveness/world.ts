import dnsPacket, { type Answer, type Packet, type SoaAnswer } from "dns-packet";
import { subjectOf } from "../../../src/liveness/verdict.ts";
import { FILTERED } from "../../../src/resolvers/ask-names.ts";
import type { Exchange } from "../../../src/host/host.ts";
import { type Host, HostError } from "../internals.ts";

/** What happens to a name over the days of a simulation. */
export const KINDS = [
  ["gone", 5],
  ["dies", 4],
  ["returns", 1],
  ["registry-hold", 2],
  ["outage", 5],
  ["long-outage", 5],
  ["broken-parent", 3],
  ["one-type", 1],
  ["servfail", 2],
  ["silent", 1],
  ["refused", 1],
  ["empty", 1],
  ["lossy", 3],
  ["parked", 2],
  ["lives", 64],
] as const;
export type WorldKind = (typeof KINDS)[number][0];

export interface WorldName {
  readonly name: string;
  readonly kind: WorldKind;
  readonly index: number;
  /** What the list has: a name below a domain whose own servers deny it. */
  readonly listed: string;
}

export const RETURNS_ON = 27;
const DIES_ON = 2;
/** Names that exist beside those of the list. */
const OTHERS = new Set<string>(["iana.org", "ietf.org", "wikipedia.org", ...FILTERED]);

const SHARES: readonly WorldKind[] = KINDS.flatMap(([kind, share]) =>
  Array.from({ length: share }, () => kind),
);

/** Names whose servers are broken are in `zz`. */
const TOPS: Readonly<Partial<Record<WorldKind, string>>> = {
  outage: "net",
  "long-outage": "org",
  "broken-parent": "zz",
  "one-type": "zz",
  servfail: "zz",
  silent: "zz",
  refused: "zz",
  empty: "zz",
  lossy: "zz",
};

/** What happens to names of real lists. */
export function worldOf(domains: readonly string[]): WorldName[] {
  return domains.map((name, index) => ({
    name,
    listed: name,
    index,
    kind: SHARES[(index * 37) % SHARES.length]!,
  }));
}

export function worldNames(count: number): WorldName[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = SHARES[index % SHARES.length]!;
    const name = `${kind}-${index}.${TOPS[kind] ?? "com"}`;
    const listed = kind === "broken-parent" && index % 2 === 0 ? `a.b.${name}` : name;
    return { name, kind, index, listed };
  });
}

/** The day from which a name does not exist; undefined if it always does. */
export function deathOf({ kind, index }: WorldName): number | undefined {
  if (kind === "gone") return 0;
  if (kind === "dies") return 1 + (index % 13);
  return kind === "returns" ? DIES_ON : undefined;
}

/** Whether a name exists, whatever servers say. */
export function existsOn(one: WorldName, day: number): boolean {
  const death = deathOf(one);
  if (death === undefined || day < death) return true;
  return one.kind === "returns" && day >= RETURNS_ON;
}

/** Whether the servers of a name say on a day that it does not exist. */
export function isDenied(one: WorldName, day: number): boolean {
  const { kind, index } = one;
  if (kind === "registry-hold") return day >= 6 + (index % 2) && day < 8 + (index % 2);
  if (kind === "outage") return day >= 13 && day < 16;
  if (kind === "long-outage") return day >= 8 && day < 30;
  return !existsOn(one, day);
}

export type Said = {
  readonly rcode: 0 | 2 | 3 | 5;
  readonly records?: Answer[];
  readonly soa?: string;
};

/** A recursive resolver in a world whose truth a test knows. */
export class World {
  readonly names: readonly WorldName[];
  day = 0;
  questions = 0;
  /** From so many questions on, it filters the names of the list, and looks like the rest of the world. */
  filtersFrom: number = Infinity;
  private readonly byName = new Map<string, WorldName>();

  constructor(
    names: number | readonly WorldName[],
    kinds: readonly WorldKind[] = KINDS.map(([kind]) => kind),
  ) {
    const all = typeof names === "number" ? worldNames(names) : names;
    this.names = all.filter(({ kind }) => kinds.includes(kind));
    for (const one of this.names) this.byName.set(one.name, one);
  }

  /** What it says; undefined if nothing comes back. */
  said(asked: string, type: string): Said | undefined {
    this.questions++;
    const top = asked.slice(asked.lastIndexOf(".") + 1);
    const domain = subjectOf(asked);
    const denied: Said = { rcode: 3, soa: top === "example" ? "." : top };
    const empty: Said = { rcode: 0, soa: domain };
    const one = this.byName.get(domain);
    if (this.questions >= this.filtersFrom && (one !== undefined || FILTERED.includes(asked)))
      return denied;
    if (one === undefined) {
      if (!OTHERS.has(domain) && !OTHERS.has(asked)) return denied;
      return type === "A" ? { rcode: 0, records: [address(asked)] } : empty;
    }
    const { kind, index, name } = one;
    if (isDenied(one, this.day)) return denied;
    if (kind === "servfail") return { rcode: 2 };
    if (kind === "silent" || (kind === "lossy" && (this.questions + index) % 3 === 0))
      return undefined;
    if (kind === "refused") return { rcode: 5 };
    if (kind === "empty") return empty;
    // Its servers do not know that a name above an existing one exists, too.
    if (kind === "broken-parent") {
      const isThere = asked === `a.b.${name}` || (index % 2 === 1 && asked === `www.${name}`);
      return isThere ? { rcode: 0, records: [address(asked)] } : denied;
    }
    if (kind === "one-type" && type !== "SOA") return denied;
    if (type === "NS") {
      const data = kind === "parked" ? "ns1.parking.example" : `ns1.${name}`;
      return { rcode: 0, records: [{ type: "NS", name: asked, ttl: 60, data }] };
    }
    if (type === "SOA") return { rcode: 0, records: [soaOf(name)] };
    return type === "A" ? { rcode: 0, records: [address(asked)] } : empty;
  }

  /** A host whose network is this world. */
  on(host: Host): Host {
    return { ...host, exchange: async (exchange) => this.exchange(exchange) };
  }

  private exchange(exchange: Exchange): void {
    const { id, questions = [] } = dnsPacket.decode(Buffer.from(exchange.message));
    const [question] = questions;
    const said = this.said(question!.name, question!.type);
    if (said === undefined) throw new HostError("ETIMEDOUT", "no answer in time");
    exchange.take(dnsPacket.encode(answerOf(said, { id, questions })));
  }
}

export function answerOf(
  { rcode, records = [], soa }: Said,
  asked: Pick<Packet, "id" | "questions">,
  flags = 0x0180,
): Packet {
  return {
    ...asked,
    type: "response",
    flags: flags | rcode,
    answers: records,
    authorities: soa === undefined ? [] : [soaOf(soa)],
  };
}

function address(name: string): Answer {
  return { type: "A", name, ttl: 60, data: "192.0.2.80" };
}

export function soaOf(name: string): SoaAnswer {
  const data = { mname: "a.example", rname: "b.example", serial: 1 };
  const times = { refresh: 1800, retry: 900, expire: 604_800, minimum: 60 };
  return { type: "SOA", name, ttl: 60, data: { ...data, ...times } };
}
