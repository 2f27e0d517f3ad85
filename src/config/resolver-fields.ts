/** How a resolver is asked. */
export type ResolverProtocol = "udp" | "tcp" | "tls";

/** Fields of an entry of `resolvers`. */
export const RESOLVER_FIELDS = {
  address: {
    type: "string",
    required: true,
    description:
      "IP address or name of the resolver, with a protocol (`udp`, which asks again over TCP if an answer is truncated, `tcp`, or `tls`) and a port if they differ from `udp` and 53, or 853 for `tls`: `192.0.2.53`, `[2001:db8::53]:5353`, `tls://dns.example`. The name in its certificate can follow: `tls://192.0.2.53#dns.example`.",
    example: "192.0.2.53",
  },
  name: {
    type: "string",
    description: "Name of the resolver in messages and metrics. Default: its address.",
    example: "home",
  },
  list: {
    type: "string",
    description:
      "Name of the list that the resolver must answer from. Required if the configuration has several lists.",
    example: "Family",
  },
  on_failure: {
    type: "choice",
    values: ["keep", "rollback"],
    description:
      "What a build with `--permit hooks` does if the resolver answered from the list before and is `stale`, `unfiltered` or `wrong` with the new one: `keep` the new list (the default), or vote for a `rollback` to the one before, which more than half of these resolvers must do. See [Prove](../guide/prove.md#roll-back).",
  },
} as const;

export const RESOLVERS_FIELDS: {
  readonly resolvers: {
    readonly type: "objects";
    readonly fields: typeof RESOLVER_FIELDS;
    readonly plain: "address";
    readonly description: string;
  };
} = {
  resolvers: {
    type: "objects",
    fields: RESOLVER_FIELDS,
    plain: "address",
    description:
      "Resolvers that must answer from the published list; `prove` asks them. A list that one of them answers from blocks one more, unused name, the canary, which shows the build. See [Resolvers](#resolvers) and [Prove](../guide/prove.md).",
  },
};
