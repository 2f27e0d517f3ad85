/**
 * Lines of other formats as lines of adblock syntax, one for one: a line keeps its number, and what says nothing about a name
 * becomes a comment. `next` and `last` are the lines around it, for formats that say one thing in two lines.
 */
export type LineReader = (line: string, next: string, last: string) => string;

const SINKHOLES = /^(?:#|0\.0\.0\.0|127(?:\.\d{1,3}){3}|::1?|)$/;

function comment(line: string): string {
  return line.trim() === "" ? "" : `! ${line}`;
}

/** `*.name` is everything below it, without itself. */
function scoped(name: string, isAllow: boolean, isExact = false): string {
  const start = isAllow ? "@@" : "";
  if (name.startsWith("*.")) return `${start}||${name}^`;
  return isExact ? `${start}|${name}^` : `${start}||${name}^`;
}

function isComment(line: string): boolean {
  return /^\s*(?:[#;!]|$)/.test(line);
}

interface DnsmasqLine {
  readonly word: string;
  readonly name: string;
  readonly rest: string;
}

/** `address=/name/…`, `server=/name/…`, `local=/name/`: the most usual of what dnsmasq reads. */
function dnsmasqParts(line: string): DnsmasqLine | undefined {
  const found = /^\s*(?<word>address|server|local)=\/(?<name>[^/\s]+)\/(?<rest>[^\s/]*)\s*$/.exec(
    line,
  );
  return found?.groups as DnsmasqLine | undefined;
}

/** Whether a line sends everything below a name on to the usual servers. */
function isSentOn(one: DnsmasqLine | undefined, parent: string): boolean {
  return one?.word === "server" && one.rest === "#" && one.name === `*.${parent}`;
}

const dnsmasqLine: LineReader = (line, next, last) => {
  const own = dnsmasqParts(line);
  if (own === undefined)
    // Several names in a line are no rule, and are dropped where all can see it.
    return isComment(line) || !/^\s*(?:address|server|local)=\//.test(line) ? comment(line) : line;
  const { word, name, rest } = own;
  // A name alone, in two lines: it is blocked, and what is below it is sent on.
  const [after, before] = [dnsmasqParts(next), dnsmasqParts(last)];
  if (before !== undefined && !before.name.startsWith("*.") && isSentOn(own, before.name))
    return comment(line);
  const isExact = isSentOn(after, name);
  if (word === "address")
    return SINKHOLES.test(rest)
      ? scoped(name, false, isExact)
      : /^[0-9a-f.:]+$/i.test(rest)
        ? `||${name}^$dnsrewrite=${rest}`
        : comment(line);
  if (rest === "") return scoped(name, false, isExact);
  // To the usual servers: an exception. To another: no matter of blocking.
  return rest === "#" ? scoped(name, true) : comment(line);
};

const BLOCKING_ZONES =
  /^(?:static|deny|refuse|redirect|inform_deny|inform_redirect|always_(?:nxdomain|null|nodata|refuse|deny))$/;

const unboundLine: LineReader = (line) => {
  const zone = /^\s*local-zone:\s*"?(?<name>[^\s"]+?)\.?"?\s+"?(?<kind>[a-z_]+)"?\s*(?:#.*)?$/.exec(
    line,
  )?.groups;
  if (zone !== undefined) {
    const { name, kind } = zone as { name: string; kind: string };
    if (kind.endsWith("transparent")) return scoped(name, true);
    return BLOCKING_ZONES.test(kind) ? scoped(name, false) : comment(line);
  }
  const data =
    /^\s*local-data:\s*"(?<name>[^\s"]+?)\.?\s+(?:\d+\s+)?(?:IN\s+)?(?:A|AAAA)\s+(?<address>\S+)"/i.exec(
      line,
    )?.groups;
  return data !== undefined && SINKHOLES.test(data["address"]!)
    ? `0.0.0.0 ${data["name"]}`
    : comment(line);
};

interface ZoneLine {
  readonly owner: string;
  /** Whether it is said by one record; addresses take two. */
  readonly isAlias: boolean;
  readonly action: "block" | "allow";
}

function zoneLine(line: string): ZoneLine | undefined {
  const { owner, kind, target } =
    /^(?<owner>[^\s;$@]\S*)\s+(?:\d+\s+)?(?:IN\s+)?(?<kind>CNAME|A|AAAA)\s+(?<target>\S+)\s*(?:;.*)?$/i.exec(
      line,
    )?.groups ?? {};
  if (owner === undefined || kind === undefined || target === undefined) return undefined;
  // Triggers that are no names: addresses of clients, of answers, of name servers.
  if (/\.rpz-[a-z-]+$/.test(owner)) return undefined;
  const isAlias = kind.toUpperCase() === "CNAME";
  if (isAlias && target === "rpz-passthru.") return { owner, isAlias, action: "allow" };
  const isBlock = isAlias ? /^(?:\*?\.|rpz-drop\.)$/.test(target) : SINKHOLES.test(target);
  return isBlock ? { owner, isAlias, action: "block" } : undefined;
}

/** Whether two lines say the same of a name and of what is below it. */
function isPair(name: ZoneLine | undefined, below: ZoneLine | undefined): boolean {
  return (
    name?.isAlias === true &&
    below?.isAlias === true &&
    below.owner === `*.${name.owner}` &&
    below.action === name.action
  );
}

const rpzLine: LineReader = (line, next, last) => {
  const own = zoneLine(line);
  if (own === undefined) return comment(line);
  const isAllow = own.action === "allow";
  const [after, before] = [zoneLine(next), zoneLine(last)];
  if (before?.owner === own.owner && before.action === own.action) return comment(line);
  if (!own.isAlias) return scoped(own.owner, isAllow, true);
  // A name and what is below it, in two lines.
  if (isPair(own, after)) return scoped(own.owner, isAllow);
  return isPair(before, own) ? comment(line) : scoped(own.owner, isAllow, true);
};

/** A name a line with a sign before it that tells what is meant. */
function signed(
  signs: Readonly<Record<string, (name: string) => string>>,
  plain: (name: string) => string,
): LineReader {
  return (line) => {
    if (isComment(line)) return comment(line);
    const text = line.trim().replace(/\s.*$/, "");
    const sign = Object.keys(signs).find((one) => text.startsWith(one));
    return sign === undefined ? plain(text) : signs[sign]!(text.slice(sign.length));
  };
}

const subtree = (name: string): string => `||${name}^`;
const exact = (name: string): string => `|${name}^`;

const rbldnsdName = signed({ "*.": (name) => `||*.${name}^`, ".": subtree }, exact);

const jsonLine: LineReader = (line) => {
  try {
    const entry = JSON.parse(line.replace(/^\s*,?/, "")) as Partial<
      Record<"name" | "scope" | "action" | "rule", string>
    >;
    if (entry.rule !== undefined) return entry.rule.replace(/[\r\n]/g, " ");
    const { name, scope, action } = entry;
    if (name === undefined || !/^[^\s/^|*$]+$/.test(name)) return comment(line);
    return scoped(scope === "below" ? `*.${name}` : name, action === "allow", scope === "exact");
  } catch {
    return comment(line);
  }
};

/** By the name that a source's `type` has. Those that are not here are read as they are. */
export const lineReaders: ReadonlyMap<string, LineReader> = new Map<string, LineReader>([
  ["wildcard", signed({ "*.": subtree }, exact)],
  ["dnsmasq", dnsmasqLine],
  ["dnsmasq-servers", dnsmasqLine],
  ["unbound", unboundLine],
  ["rpz", rpzLine],
  ["dnscrypt", signed({ "=": exact, "*.": subtree }, subtree)],
  [
    "smartdns",
    (line) => {
      const { name, rest } =
        /^\s*address\s+\/(?<name>[^/\s]+)\/(?<rest>\S*)\s*$/.exec(line)?.groups ?? {};
      if (name === undefined) return comment(line);
      return rest === "-"
        ? scoped(name, true)
        : SINKHOLES.test(rest!)
          ? scoped(name, false)
          : comment(line);
    },
  ],
  ["dnsdist", signed({}, subtree)],
  ["squid", signed({ ".": subtree }, exact)],
  [
    "rbldnsd",
    (line, next, last) => {
      if (/^\s*(?:[:$]|!\s*$)/.test(line)) return comment(line);
      return line.startsWith("!")
        ? `@@${rbldnsdName(line.slice(1), next, last)}`
        : rbldnsdName(line, next, last);
    },
  ],
  [
    "blocky",
    (line, next, last) =>
      /^\s*\//.test(line) ? line : signed({ "*.": subtree }, exact)(line, next, last),
  ],
  ["json", jsonLine],
]);
