/** A query, as a log has it. */
export interface LoggedQuery {
  readonly name: string;
  readonly client: string;
}

/** Writes queries as each program does: written from their logs and documentation, apart from the readers. */
export const logWriters: ReadonlyMap<string, (queries: readonly LoggedQuery[]) => string> = new Map(
  Object.entries({
    "AdGuard Home": (queries) =>
      lines(queries, ({ name, client }) =>
        JSON.stringify({
          T: "2026-11-16T19:17:25.123456789+01:00",
          QH: name,
          QT: "A",
          QC: "IN",
          CP: "",
          Answer: "AAGBgAABAAEAAAAA",
          IP: client,
          Result: { Rules: [{ Text: '||"QH":"decoy.example"^' }] },
          Elapsed: 1234,
        }),
      ),
    dnsmasq: (queries) =>
      `Nov 16 19:17:25 dnsmasq[2766]: started, version 2.90 cache disabled\n${lines(
        queries,
        ({ name, client }, at) => {
          const head = `Nov 16 19:17:26 dnsmasq[2766]: ${at % 3 === 0 ? `${at} ${client}/39760 ` : ""}`;
          return `${head}query[AAAA] ${name} from ${client}\n${head}forwarded ${name} to 9.9.9.9\n${head}reply ${name} is 192.0.2.80`;
        },
      )}`,
    unbound: (queries) =>
      `[1794856649] unbound[2788:0] info: start of service (unbound 1.17.1).\n${lines(
        queries,
        ({ name, client }) =>
          `[1794856651] unbound[2788:0] info: ${client} ${name}. A IN\n[1794856651] unbound[2788:0] info: ${client} ${name}. A IN NOERROR 0.000458 0 47`,
      )}`,
    "unbound (replies)": (queries) =>
      lines(
        queries,
        ({ name, client }) =>
          `Nov 16 19:17:25 router unbound[12]: [12:3] reply: ${client} ${name}. HTTPS IN NXDOMAIN 0.000000 1 47`,
      ),
    BIND: (queries) =>
      lines(
        queries,
        ({ name, client }, at) =>
          `16-Nov-2026 19:17:25.000 queries: info: client @0x7f1${at} ${client}#45678${at % 3 === 0 ? "/key phone" : ""} (${name}): ${at % 2 === 0 ? "view inside: " : ""}query: ${name} IN A +E(0)K (127.0.0.1)`,
      ),
    dnsdist: (queries) =>
      lines(
        queries,
        ({ name, client }) => `Packet from ${client}:46297 for ${name}. A with id 256`,
      ),
    dnstap: (queries) =>
      lines(
        queries,
        ({ name, client }) =>
          `17-Nov-2026 22:18:49.329 CQ ${client}:54019 -> 127.0.0.1:45807 UDP 31b ${name}/IN/A
17-Nov-2026 22:18:49.329 RQ 0.0.0.0:51284 -> 127.0.0.1:57612 UDP 54b ns.other.example/IN/A
17-Nov-2026 22:18:49.330 CR ${client}:54019 <- 127.0.0.1:45807 UDP 47b ${name}/IN/A`,
      ),
    "dnstap (responses)": (queries) =>
      lines(
        queries,
        ({ name, client }) =>
          `17-Nov-2026 22:18:49.330 CR ${client}:54019 <- 127.0.0.1:45807 TCP 47b ${name}/IN/TYPE65
17-Nov-2026 22:18:49.330 RR 0.0.0.0:51284 <- 127.0.0.1:57612 UDP 54b ns.other.example/IN/A`,
      ),
    names: (queries) => {
      const counts = new Map<string, number>();
      for (const { name } of queries) counts.set(name, (counts.get(name) ?? 0) + 1);
      return lines([...counts], ([name, count]) =>
        count === 1 ? name : `${String(count).padStart(7)} ${name}`,
      );
    },
  } satisfies Record<string, (queries: readonly LoggedQuery[]) => string>),
);

function lines<T>(things: readonly T[], line: (thing: T, at: number) => string): string {
  return things.map((thing, at) => `${line(thing, at)}\n`).join("");
}
