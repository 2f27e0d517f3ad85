import { nearest, printable, someOf } from "../diagnostics/text.ts";
import type { Optional } from "./fields.ts";
import type { Config } from "./lists.ts";

/** A resolver that must answer from a list. */
export interface Resolver {
  readonly name: string;
  /** An IP address or a host name. */
  readonly address: string;
  readonly port: number;
  readonly protocol: ResolverProtocol;
  /** The name in the certificate; undefined if it is that of the address. */
  readonly serverName: string | undefined;
  /** The name of the list. */
  readonly list: string;
  /** Empty if it has none. */
  readonly group: string;
  /** Whether a list that it does not answer from is rolled back. */
  readonly mayRollBack: boolean;
}

interface ResolverAddress {
  readonly address: string;
  readonly port: number;
  readonly protocol: ResolverProtocol;
  readonly serverName: string | undefined;
}

const PLACE =
  /^(?:(?<protocol>udp|tcp|tls):\/\/)?(?:\[(?<bracketed>[\da-f:.]+)\]|(?<ipv6>[\da-f]*:[\da-f:.]*:[\da-f:.]*)|(?<host>[\w.-]{1,253}))(?::(?<port>\d{1,5}))?(?:#(?<server>[\w.-]{1,253}))?$/i;
const LABEL = /^[a-z\d_](?:[\w-]{0,61}[a-z\d])?$/i;

/** Undefined if the text is not an address. */
export function addressOf(text: string): ResolverAddress | undefined {
  const groups = PLACE.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { bracketed, ipv6, host, port, server } = groups;
  const protocol = (groups["protocol"]?.toLowerCase() ?? "udp") as ResolverProtocol;
  const address = bracketed ?? ipv6 ?? host!;
  const isAddress = host === undefined ? isIpv6(address) : isName(address);
  if (!isAddress || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return undefined;
  return {
    address,
    port: Number(port ?? (protocol === "tls" ? 853 : 53)),
    protocol,
    serverName: server,
  };
}

function isIpv6(address: string): boolean {
  return URL.canParse(`http://[${address}]/`);
}

/** A host name, or an IPv4 address of four numbers up to 255. */
function isName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  if (/^\d+$/.test(labels.at(-1)!))
    return labels.length === 4 && labels.every((one) => /^\d{1,3}$/.test(one) && Number(one) < 256);
  return labels.every((label) => LABEL.test(label));
}

/** The resolvers of a valid configuration. */
export function resolversOf({ name: title, lists, resolvers = [] }: Config): Resolver[] {
  return resolvers.map((one) => {
    const { address, name = address, list } = one;
    return {
      ...addressOf(address)!,
      name,
      list: list ?? lists?.[0]?.name ?? title,
      group: one.group ?? "",
      mayRollBack: one.on_failure === "rollback",
    };
  });
}

/** The resolvers with one of these names, or in one of these groups, in the order of the configuration. */
export function resolversNamed<R extends Pick<Resolver, "name" | "group">>(
  wanted: readonly string[],
  resolvers: readonly R[],
): R[] {
  const isWanted = (text: string): boolean => text !== "" && wanted.includes(text);
  return resolvers.filter(({ name, group }) => isWanted(name) || isWanted(group));
}

/** Whether a list blocks a canary. `config` is that of the list. */
export function hasCanary(config: Config): boolean {
  return resolversOf(config).some(({ list }) => list === config.name);
}

/** Problems of `resolvers` in a configuration that is otherwise valid. */
export function resolverProblems(config: Config): { message: string; hint?: string }[] {
  const { resolvers = [], lists } = config;
  const known = lists?.map(({ name }) => name) ?? [config.name];
  const problems: { message: string; hint?: string }[] = [];
  const names = new Set<string>();
  const groups = new Set(resolvers.map(({ group }) => group));
  for (const [index, one] of resolvers.entries()) {
    const at = `resolvers[${index}]`;
    const { address, name = address, list } = one;
    const parsed = addressOf(address);
    const add = (message: string, hint?: string): void =>
      void problems.push({ message: `${at} ${message}`, ...(hint && { hint }) });
    if (parsed === undefined)
      add(
        `has the address ${printable(address, 60)}, which is neither an IP address nor a host name`,
        'Write "192.0.2.53", "[2001:db8::53]:5353" or "tls://dns.example"',
      );
    if (parsed?.serverName !== undefined && parsed.protocol !== "tls")
      add("has the name of a certificate, but its protocol is not tls", "Write tls:// before it");
    if (list === undefined && known.length > 1)
      add("does not say which list it answers from", `Add "list": one of ${someOf(known)}`);
    if (list !== undefined && !known.includes(list)) {
      const meant = nearest(list, known);
      add(
        `has the list ${printable(list, 60)}, which does not exist`,
        meant === undefined
          ? `Known names: ${someOf(known)}`
          : `Did you mean "${printable(meant)}"?`,
      );
    }
    if (names.has(name))
      add(`has the same name as another one: ${printable(name, 60)}`, "Give each a unique name");
    names.add(name);
    if (groups.has(name))
      add(`has the name of a group: ${printable(name, 60)}`, "Give the group another name");
  }
  return problems;
}

/** How a resolver is asked. */
type ResolverProtocol = "udp" | "tcp" | "tls";

/** Fields of an entry of `resolvers`. */
export const RESOLVER_FIELDS = {
  address: {
    type: "string",
    required: true,
    description:
      "IP address or name of the resolver, with a protocol (`udp`, which asks again over TCP if an answer is truncated, `tcp`, or `tls`) and a port if they differ from `udp` and 53, or 853 for `tls`: `192.0.2.53`, `[2001:db8::53]:5353`, `tls://dns.example`. The name in its certificate can follow: `tls://192.0.2.53#dns.example`.",
    example: "tls://192.0.2.53#dns.example",
  },
  name: {
    type: "string",
    default: "its address",
    description: "Name of the resolver in messages and metrics.",
    example: "home",
  },
  list: {
    type: "string",
    default: "the only list; required if there are several",
    description: "Name of the list that the resolver must answer from.",
    example: "Light",
    needs: { lists: [{ name: "Light" }, { name: "Pro" }] },
  },
  group: {
    type: "string",
    default: "that of all resolvers without one",
    description:
      "Resolvers that work alike: the same software, or the same place. A list goes back if more than half of one group do not answer from it, and `each` of a hook can name the group.",
    example: "edge",
  },
  on_failure: {
    type: "choice",
    default: "`keep`",
    values: {
      keep: "Keep the new list",
      rollback:
        "Vote for the list before, which is published again if more than half of the voters of a group do",
    },
    description:
      "What a build with `--permit hooks` does if the resolver answered from the list before and is `stale`, `unfiltered` or `wrong` with the new one. See [Prove](../guide/prove.md#roll-back).",
    example: "rollback",
  },
} as const;

export const RESOLVERS_FIELDS: {
  readonly resolvers: {
    readonly type: "objects";
    readonly fields: typeof RESOLVER_FIELDS;
    readonly plain: "address";
  } & Optional;
} = {
  resolvers: {
    type: "objects",
    fields: RESOLVER_FIELDS,
    plain: "address",
    default: "nothing",
    description:
      "Resolvers that must answer from the published list; `prove` asks them. A list that one of them answers from blocks one more, unused name, the canary, which shows the build. A string is a resolver that has only `address`. See [Prove](../guide/prove.md).",
    example: ["192.0.2.53", { name: "home", address: "tls://dns.example" }],
  },
};
