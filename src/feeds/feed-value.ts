import { decodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import { toAsciiHost } from "../syntax/idna.ts";
import type { FeedLines } from "./feed-lines.ts";
import { writePlainName } from "./plain-name.ts";
import { isSharedHost } from "./shared-hosts.ts";

const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** A last label that is a number makes the whole an IPv4 address (WHATWG URL). */
const NUMBER = /\.(?:\d+|0x[0-9a-f]*)$/;
/** `http://user@host:port` and the rest; the scheme may be missing or made harmless. */
const URL_PARTS =
  /^(?:(?<scheme>[a-z*][a-z0-9+.*-]*):)?(?<slashes>[/\\]{2,})?(?<authority>[^/\\?#]*)(?<rest>.*)$/is;
const WEB_SCHEME = /^(?:h(?:tt|xx|\*\*)ps?|f(?:t|x|\*)ps?|wss?)$/i;

/** Writes the lines of values: names and URLs. Plain names, the usual case, cause no allocation. */
export class FeedValues {
  private readonly takesHosts: boolean;

  constructor(urls: "whole" | "host" | undefined) {
    this.takesHosts = urls === "host";
  }

  write(bytes: Uint8Array, from: number, to: number, lines: FeedLines): void {
    let start = from;
    let end = to;
    while (start < end && bytes[start]! <= 32) start++;
    while (end > start && bytes[end - 1]! <= 32) end--;
    if (start === end) lines.dropped(Fate.NoValue);
    else {
      const before = lines.length;
      if (writePlainName(bytes, start, end, lines) === end) return;
      lines.length = before;
      this.writeText(decodeUtf8(bytes, start, end), lines);
    }
  }

  /** The same for a value that is text already, without blanks around it. */
  writeText(value: string, lines: FeedLines): void {
    const text = refanged(value);
    const { scheme, slashes, authority = "", rest = "" } = URL_PARTS.exec(text)?.groups ?? {};
    // `name:8080` looks like a scheme.
    const isPort = scheme !== undefined && slashes === undefined;
    // Without slashes, it is a mail address: the name is that of a provider.
    const isMail = slashes === undefined && authority.includes("@");
    const isWeb = isPort ? /^\d*$/.test(authority) : WEB_SCHEME.test(scheme ?? "http");
    const isKnown = isWeb && !isMail;
    if (!isKnown) {
      lines.dropped(Fate.BadSyntax);
      return;
    }
    const place = isPort ? `${scheme}:${authority}` : authority;
    const host = place.slice(place.lastIndexOf("@") + 1).replace(/:\d*$/, "");
    const name = host.startsWith("[") ? Fate.IpAddress : nameOf(host);
    if (typeof name === "number") lines.dropped(name);
    else if (/^[/\\]?#?$/.test(rest)) lines.name(name);
    else if (isSharedHost(name)) lines.dropped(Fate.SharedHost, name);
    else if (this.takesHosts || /^[/\\]?#/.test(rest)) lines.name(name);
    else lines.dropped(Fate.UrlPath, name);
  }
}

/** Undoes what makes addresses harmless in reports: `hxxp[:]//name[.]example`. */
function refanged(value: string): string {
  if (!/[[({\\]/.test(value)) return value;
  return value
    .replace(/[[({](?:\.|dot)[\])}]|\\\./gi, ".")
    .replace(/[[({]:[\])}]/g, ":")
    .replace(/[[({]:\/\/[\])}]/g, "://")
    .replace(/[[({](?:@|at)[\])}]/gi, "@");
}

/** A name of two labels or more, of letters, digits and inner hyphens; otherwise the reason why not. */
function nameOf(host: string): string | Fate {
  let name = host.toLowerCase().replace(/\.$/, "");
  if (/[^\u0000-\u007f]/.test(name)) name = toAsciiHost(name) ?? "";
  if (name.length > 253 || !NAME.test(name)) return Fate.BadHost;
  return NUMBER.test(name) ? Fate.IpAddress : name;
}
