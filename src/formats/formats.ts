import { LF, encodeUtf8 } from "../bytes/text.ts";
import { appendText } from "../rules/chunk.ts";
import type { Answer } from "../meaning/answer.ts";
import { Fate } from "../rules/fate.ts";
import { deviceTail } from "./device-rules.ts";
import {
  type AnswerLines,
  type Format,
  LONGEST_NAME,
  type NameFormat,
  type ScopeLines,
  commentHeader,
} from "./name-format.ts";

/** A copy of the list that can be split, limited in size or compressed. `adblock` below writes the list itself. */
const adblockCopy: NameFormat = {
  summary:
    "Adblock syntax with every rule of the list; can be split, compressed or limited in size.",
  usedBy: "AdGuard Home, AdGuard DNS, Technitium",
  extension: ".adblock.txt",
  lines: ({ devices }) => ({ subtree: [`||%^${deviceTail(devices)}`] }),
  header: commentHeader("!"),
  isLossless: true,
  memoryPerName: 500,
};

const blocky: NameFormat = {
  summary:
    "`*.name`, plain names and regular expressions for `denylists`, and a second file for `allowlists`.",
  usedBy: "blocky",
  extension: ".blocky",
  lines: () => ({
    subtree: ["*.%"],
    exact: ["%"],
    allowSubtree: ["*.%"],
    allowExact: ["%"],
    regex: ["/%/"],
    allowRegex: ["/%/"],
  }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};

/**
 * A line is a record: `+` and `-` for a name with everything below it, blocked or not; `=` and `!` for a name alone, which
 * dnsdist looks up first.
 */
const cdb: NameFormat = {
  summary:
    "A constant database for the key-value stores of dnsdist, with a Lua file that uses it. The columns show the kinds of records.",
  usedBy: "dnsdist",
  extension: ".cdb",
  lines: () => ({
    subtree: ["+%"],
    below: ["+%"],
    exact: ["=%"],
    allowSubtree: ["-%"],
    allowBelow: ["-%"],
    allowExact: ["!%"],
    openExact: ["!%"],
  }),
  header: () => [],
  isDatabase: true,
  belowHidesSelf: true,
  memoryPerName: 47,
  isMeasured: true,
};

const dnscrypt: NameFormat = {
  summary: "Names for `blocked_names_file`, and a second file for `allowed_names_file`.",
  usedBy: "dnscrypt-proxy",
  extension: ".dnscrypt",
  lines: () => ({ subtree: ["%"], exact: ["=%"], allowSubtree: ["%"], allowExact: ["=%"] }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 250,
};

/** Has no header: every line is a name, and an empty line would be the root. */
const dnsdist: NameFormat = {
  summary:
    "One name per line, for a SuffixMatchNode filled by `io.lines`, and a second file of exceptions.",
  usedBy: "dnsdist",
  extension: ".dnsdist",
  lines: () => ({ subtree: ["%"], allowSubtree: ["%"] }),
  header: () => [],
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 650,
  isMeasured: true,
};

/** Without the second line, dnsmasq asks other servers for what is not an address. A name cannot be an answer: it would not be looked up. */
function answeredByDnsmasq(answer: Answer): AnswerLines | undefined {
  const ends = {
    nxdomain: [""],
    null: ["#"],
    address: answer.kind === "address" ? [...answer.v4, ...answer.v6] : [],
    cname: undefined,
    nodata: undefined,
    refused: undefined,
  }[answer.kind];
  if (ends === undefined) return undefined;
  const lines = (name: string): string[] => [
    ...ends.map((end) => `address=/${name}/${end}`),
    ...(answer.kind === "nxdomain" ? [] : [`local=/${name}/`]),
  ];
  return {
    subtree: lines("%"),
    // The more specific line wins: names below are forwarded.
    exact: [...lines("%"), "server=/*.%/#"],
    below: lines("*.%"),
  };
}

const dnsmasq: NameFormat = {
  summary: "`address=/name/` for a configuration file; needs a restart to take effect.",
  usedBy: "dnsmasq, OpenWrt",
  extension: ".dnsmasq.conf",
  answers: ["nxdomain", "null", "address"],
  lines: ({ answer }) => ({
    ...answeredByDnsmasq(answer),
    allowSubtree: ["server=/%/#"],
    allowBelow: ["server=/*.%/#"],
    answered: answeredByDnsmasq,
  }),
  header: commentHeader("#"),
  memoryPerName: 100,
  isMeasured: true,
};

function answeredByServers({ kind }: Answer): AnswerLines | undefined {
  if (kind !== "nxdomain") return undefined;
  return {
    subtree: ["server=/%/"],
    exact: ["server=/%/", "server=/*.%/#"],
    below: ["server=/*.%/"],
  };
}

const dnsmasqServers: NameFormat = {
  summary: "`server=/name/` for `--servers-file`, which dnsmasq reloads on SIGHUP.",
  usedBy: "dnsmasq",
  extension: ".dnsmasq-servers",
  answers: ["nxdomain"],
  lines: () => ({
    ...answeredByServers({ kind: "nxdomain" }),
    answered: answeredByServers,
    allowSubtree: ["server=/%/#"],
    allowBelow: ["server=/*.%/#"],
  }),
  header: commentHeader("#"),
  memoryPerName: 110,
  isMeasured: true,
};

const domains: NameFormat = {
  summary:
    "One name per line. It blocks that name alone; some programs include the names below it.",
  usedBy: "Pi-hole, blocky, smartdns (domain-set), many others",
  extension: ".domains",
  lines: () => ({ exact: ["%"] }),
  header: commentHeader("#"),
  memoryPerName: 150,
};

const hosts: NameFormat = {
  summary: "One address and one name per line. Names below a blocked name stay reachable.",
  usedBy: "operating systems, Pi-hole, dnsmasq, blocky",
  extension: ".hosts",
  answers: ["null", "address"],
  lines: ({ answer, hasBothAddresses }) => ({
    exact:
      answer.kind === "address"
        ? [
            ...(answer.v4.length === 0 ? ["0.0.0.0"] : answer.v4),
            ...(answer.v6.length === 0 ? ["::"] : answer.v6),
          ].map((one) => `${one} %`)
        : hasBothAddresses
          ? ["0.0.0.0 %", ":: %"]
          : ["0.0.0.0 %"],
    answered: (one) =>
      one.kind === "address"
        ? { exact: [...one.v4, ...one.v6].map((address) => `${address} %`) }
        : undefined,
  }),
  header: commentHeader("#"),
  memoryPerName: 150,
};

const entry = (scope: string, action: string, isImportant = false): string[] => [
  `,{"name":"%","scope":"${scope}","action":"${action}"${isImportant ? ',"important":true' : ""}}`,
];

const entries = (isImportant: boolean): ScopeLines => ({
  subtree: entry("subtree", "block", isImportant),
  exact: entry("exact", "block", isImportant),
  below: entry("below", "block", isImportant),
  allowSubtree: entry("subtree", "allow", isImportant),
  allowExact: entry("exact", "allow", isImportant),
  allowBelow: entry("below", "allow", isImportant),
});

/**
 * Expresses every rule; a rule without a name keeps its text. For a name, the closest entry counts. The strongest of that entry and
 * the matching rules wins, as in adblock syntax: important exception, important block, exception, block.
 */
const json: NameFormat = {
  summary: "One JSON document: names with scope and action, and all other rules as text.",
  usedBy: "your own programs",
  extension: ".json",
  lines: () => ({
    ...entries(false),
    important: entries(true),
    openSubtree: entry("subtree", "none"),
    openExact: entry("exact", "none"),
    openBelow: entry("below", "none"),
    rule: [',{"rule":%}'],
  }),
  header: ({ lines }) => [
    `{"about":${JSON.stringify(lines.filter((line) => line !== ""))},`,
    '"rules":[',
  ],
  footer: ["]}"],
  isCommaFirst: true,
  memoryPerName: 150,
};

const mihomo: NameFormat = {
  summary:
    "`+.name` lines for a rule provider with `behavior: domain` and `format: text`, and a second file of exceptions.",
  usedBy: "mihomo (Clash.Meta)",
  extension: ".mihomo",
  lines: () => ({
    subtree: ["+.%"],
    exact: ["%"],
    below: [".%"],
    allowSubtree: ["+.%"],
    allowExact: ["%"],
    allowBelow: [".%"],
  }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};

const pihole: NameFormat = {
  summary:
    "`||name^` and plain names, without modifiers; exceptions go into a second file, for an allowlist subscription.",
  usedBy: "Pi-hole 6",
  extension: ".pihole",
  lines: () => ({
    subtree: ["||%^"],
    exact: ["%"],
    allowSubtree: ["@@||%^"],
    allowExact: ["%"],
  }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};

const rbldnsd: NameFormat = {
  summary: "A `dnset` zone; exceptions begin with `!`.",
  usedBy: "rbldnsd",
  extension: ".rbldnsd",
  lines: () => ({
    subtree: [".%"],
    exact: ["%"],
    below: ["*.%"],
    allowSubtree: ["!.%"],
    allowExact: ["!%"],
  }),
  header: (facts) => [...commentHeader("#")(facts), ":127.0.0.2:Blocked"],
  memoryPerName: 50,
  isMeasured: true,
};

/** Of the records that have a name as their owner. A zone cannot refuse a name. */
function policyRecords(answer: Answer): readonly string[] | undefined {
  switch (answer.kind) {
    case "nxdomain":
      return ["CNAME ."];
    case "nodata":
      return ["CNAME *."];
    case "null":
      return ["A 0.0.0.0", "AAAA ::"];
    case "address":
      return [...answer.v4.map((one) => `A ${one}`), ...answer.v6.map((one) => `AAAA ${one}`)];
    case "cname":
      return [`CNAME ${answer.name}.`];
    case "refused":
      return undefined;
  }
}

function answeredByZone(answer: Answer): AnswerLines | undefined {
  const records = policyRecords(answer);
  if (records === undefined) return undefined;
  const exact = records.map((record) => `% ${record}`);
  const below = records.map((record) => `*.% ${record}`);
  return { subtree: [...exact, ...below], exact, below };
}

const PASS = "CNAME rpz-passthru.";

/** Names are relative to the zone: with a final dot they would be outside of it. */
const rpz: NameFormat = {
  summary: "A response policy zone, with a serial that grows when the rules change.",
  usedBy: "BIND, unbound, Knot Resolver, PowerDNS Recursor",
  extension: ".rpz",
  answers: ["nxdomain", "null", "nodata", "address", "cname"],
  lines: ({ answer }) => ({
    ...answeredByZone(answer),
    allowSubtree: [`% ${PASS}`, `*.% ${PASS}`],
    allowExact: [`% ${PASS}`],
    allowBelow: [`*.% ${PASS}`],
    answered: answeredByZone,
  }),
  header: (facts, { ttl }) => [
    ...commentHeader(";")(facts),
    `$TTL ${ttl}`,
    `@ SOA localhost. hostmaster.localhost. ${facts.serial} 3600 600 604800 ${ttl}`,
    "@ NS localhost.",
  ],
  hidesParents: true,
  // The full name includes `*.` and the name of the zone.
  longestName: ({ origin }) => LONGEST_NAME - 2 - origin.length - 1,
  memoryPerName: 1250,
  isMeasured: true,
};

/** sing-box refuses a rule without names, so each list begins with a reserved name that never exists. */
const FIRST = '"rules-compiler.invalid"';

const singBox: NameFormat = {
  summary:
    "A rule-set in source format (version 2, sing-box 1.10 or newer), and a second one of exceptions.",
  usedBy: "sing-box",
  extension: ".sing-box.json",
  lines: () => ({
    subtree: [',"%"'],
    below: [',".%"'],
    exact: [',"%"'],
    allowSubtree: [',"%"'],
    allowBelow: [',".%"'],
    allowExact: [',"%"'],
  }),
  header: () => [`{"version":2,"rules":[{"domain_suffix":[${FIRST}`],
  exactOpening: `],"domain":[${FIRST}`,
  footer: ["]}]}"],
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};

const smartdns: NameFormat = {
  summary: "`address /name/#` lines for a `conf-file`.",
  usedBy: "smartdns",
  extension: ".smartdns.conf",
  lines: () => ({ subtree: ["address /%/#"], allowSubtree: ["address /%/-"] }),
  header: commentHeader("#"),
  memoryPerName: 300,
  isMeasured: true,
};

export const squid: NameFormat = {
  summary: "`.name` lines for a `dstdomain` acl, and a second file for the acl that allows.",
  usedBy: "squid",
  extension: ".squid",
  lines: () => ({ subtree: [".%"], exact: ["%"], allowSubtree: [".%"], allowExact: ["%"] }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};

const ZONES = {
  nxdomain: "always_nxdomain",
  null: "always_null",
  nodata: "always_nodata",
  refused: "always_refuse",
} as const;

/** Names below a name that only has data are resolved as usual. An alias of such a name would not be followed. */
function answeredByUnbound(answer: Answer): AnswerLines {
  if (answer.kind === "cname")
    return {
      subtree: ['local-zone: "%." redirect', `local-data: "%. CNAME ${answer.name}."`],
    };
  if (answer.kind !== "address") return { subtree: [`local-zone: "%." ${ZONES[answer.kind]}`] };
  const exact = [
    ...answer.v4.map((one) => `local-data: "%. A ${one}"`),
    ...answer.v6.map((one) => `local-data: "%. AAAA ${one}"`),
  ];
  return { subtree: ['local-zone: "%." redirect', ...exact], exact };
}

const unbound: NameFormat = {
  summary:
    "`local-zone` lines for an `include:`; the most specific one wins. A name that is blocked alone gets the answer 0.0.0.0, unless the answer is an address; an answer that is a name is for whole subtrees only.",
  usedBy: "unbound, OPNsense",
  extension: ".unbound.conf",
  answers: ["nxdomain", "null", "nodata", "refused", "address", "cname"],
  lines: ({ answer }) => ({
    // Other query types get an empty answer.
    ...(answer.kind !== "cname" && {
      exact: [
        'local-data: "%. A 0.0.0.0"',
        ...(answer.kind === "null" ? ['local-data: "%. AAAA ::"'] : []),
      ],
    }),
    ...answeredByUnbound(answer),
    allowSubtree: ['local-zone: "%." always_transparent'],
    answered: answeredByUnbound,
  }),
  header: (facts) => [...commentHeader("#")(facts), "server:"],
  // Data in an always_transparent zone is ignored.
  allowHidesExact: true,
  memoryPerName: 490,
  isMeasured: true,
};

const wildcard: NameFormat = {
  summary: "`*.name` for a name and everything below it. No exceptions.",
  usedBy: "blocky, RethinkDNS and others that include the name itself",
  extension: ".wildcard",
  lines: () => ({ subtree: ["*.%"] }),
  header: commentHeader("#"),
  memoryPerName: 150,
};

/** All output formats, by their name in the configuration. */
export const nameFormats: ReadonlyMap<string, NameFormat> = new Map([
  ["adblock", adblockCopy],
  ["hosts", hosts],
  ["domains", domains],
  ["wildcard", wildcard],
  ["dnsmasq", dnsmasq],
  ["dnsmasq-servers", dnsmasqServers],
  ["unbound", unbound],
  ["rpz", rpz],
  ["dnscrypt", dnscrypt],
  ["smartdns", smartdns],
  ["dnsdist", dnsdist],
  ["squid", squid],
  ["rbldnsd", rbldnsd],
  ["pihole", pihole],
  ["blocky", blocky],
  ["mihomo", mihomo],
  ["sing-box", singBox],
  ["json", json],
  ["cdb", cdb],
]);

export const adblock: Format = {
  summary: "Adblock syntax: the rules below a header of comments, for AdGuard Home and AdGuard DNS",
  extension: ".txt",
  header: (lines) => encodeUtf8(lines.join("\n")),
  append(chunk, out, writer) {
    for (let row = 0; row < chunk.length; row++) {
      row = writer.write(chunk, row, (bytes) => void out.append(bytes, 0, bytes.length));
      if (row === chunk.length) return;
      if (chunk.fate[row] !== Fate.Kept) continue;
      out.push(LF);
      appendText(chunk, row, out);
    }
  },
};
