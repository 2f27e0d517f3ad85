import {
  ByteBuffer,
  CR,
  DOT,
  HASH,
  HYPHEN,
  LF,
  SPACE,
  decodeUtf8,
  encodeUtf8,
  isDigit,
} from "../bytes/text.ts";
import { Fate } from "../rules/fate.ts";
import { Suffix, publicSuffixKind, withParents } from "../syntax/public-suffix.ts";
import { toAsciiHost } from "../syntax/written-names.ts";

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

/** The fates of rows without a rule, by the letter that marks them. */
const FATE_OF: ReadonlyMap<number, Fate> = new Map(
  Object.entries({
    n: Fate.NoValue,
    w: Fate.NotChosen,
    p: Fate.UrlPath,
    s: Fate.SharedHost,
    i: Fate.IpAddress,
    h: Fate.BadHost,
    x: Fate.BadSyntax,
  }).map(([letter, fate]) => [letter.charCodeAt(0), fate]),
);
const LETTER_OF: ReadonlyMap<Fate, number> = new Map(
  [...FATE_OF].map(([letter, fate]) => [fate, letter]),
);

/**
 * The lines of a feed: `name`; `name #p` or `#n` for a row that is not a rule, where the letter means its fate; `# text` for a
 * comment; nothing for a blank line.
 */
export class FeedLines extends ByteBuffer {
  blank(): void {
    this.push(LF);
  }

  /** A row that is not a rule. */
  dropped(fate: Fate, name = ""): void {
    for (let at = 0; at < name.length; at++) this.push(name.charCodeAt(at));
    if (name !== "") this.push(SPACE);
    this.push(HASH);
    this.push(LETTER_OF.get(fate)!);
    this.push(LF);
  }

  name(name: string): void {
    for (let at = 0; at < name.length; at++) this.push(name.charCodeAt(at));
    this.push(LF);
  }

  /** Keeps the visible ASCII characters of a comment. */
  comment(bytes: Uint8Array, from: number, end: number): void {
    let start = from;
    while (start < end && bytes[start]! <= SPACE) start++;
    this.reserve(end - start + 4);
    this.push(HASH);
    this.push(SPACE);
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      this.push(byte >= SPACE && byte < 127 ? byte : SPACE);
    }
    this.push(LF);
  }

  clear(): void {
    this.length = 0;
  }
}

/** The fate of a line; `Live` if it has none of its own. */
export function fateOfLine(bytes: Uint8Array, start: number, end: number): Fate {
  if (end - start < 2 || bytes[end - 2] !== HASH) return Fate.Kept;
  if (bytes[start] === HASH && end - start !== 2) return Fate.Kept;
  return FATE_OF.get(bytes[end - 1]!) ?? Fate.Kept;
}

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

/** Bytes of names in lower case; 0 for all others. */
const LOWER = new Uint8Array(256);
for (const byte of new TextEncoder().encode("abcdefghijklmnopqrstuvwxyz0123456789-.")) {
  LOWER[byte] = byte;
  if (byte >= 97) LOWER[byte - 32] = byte;
}

/**
 * Writes the name that begins at `start`, as a line in lower case, and returns the position of the first byte that is not part of a
 * name. Writes nothing and returns -1 if there is no name: two labels or more, of letters, digits and inner hyphens.
 */
export function writePlainName(
  bytes: Uint8Array,
  start: number,
  end: number,
  lines: FeedLines,
): number {
  const from = lines.reserve(LONGEST_NAME + 2);
  const out = lines.bytes;
  const stop = Math.min(end, start + LONGEST_NAME + 1);
  let to = from;
  let previous = DOT;
  let labelStart = start;
  let dots = 0;
  let at = start;
  for (; at < stop; at++) {
    const byte = LOWER[bytes[at]!]!;
    if (byte === 0) break;
    if (byte === DOT) {
      if (previous === DOT || previous === HYPHEN || at - labelStart > LONGEST_LABEL) return -1;
      labelStart = at + 1;
      dots++;
    } else if (byte === HYPHEN && previous === DOT) return -1;
    out[to++] = byte;
    previous = byte;
  }
  // A final dot is not part of the line; names that need more than this are rare.
  if (previous === DOT || previous === HYPHEN || dots === 0) return -1;
  if (at - labelStart > LONGEST_LABEL || at - start > LONGEST_NAME) return -1;
  // A last label that is a number makes the whole an IPv4 address (WHATWG URL).
  if (isDigit(bytes[labelStart]!)) return -1;
  out[to++] = LF;
  lines.length = to;
  return at;
}

/** Platforms whose paths belong to their users; names below them are theirs, too. */
const PLATFORMS: ReadonlySet<string> = new Set(
  `1drv.ms a.co about.me academia.edu adobe.com airtable.com aka.ms alibaba.com aliexpress.com amazon.com amzn.to aol.com
  apple.com archive.org atlassian.net baidu.com behance.net bilibili.com bing.com bit.ly bitbucket.org bitly.com blogger.com
  booking.com box.com bsky.app buff.ly calendly.com canva.com cash.app change.org clickup.com coda.io codepen.io
  constantcontact.com craigslist.org cutt.ly dailymotion.com deviantart.com discord.com discordapp.com discordapp.net
  disk.yandex.com docusign.net douyin.com dropbox.com dropboxusercontent.com duckduckgo.com ebay.com etsy.com eventbrite.com
  evernote.com facebook.com fb.com fb.me fb.watch figma.com fiverr.com flickr.com flipkart.com forms.gle g.co g.page git.io
  github.com githubusercontent.com gitlab.com gmail.com gofile.io gofundme.com goo.gl goo.su google.com googleapis.com
  googleblog.com googleusercontent.com gravatar.com hackmd.io hotmail.com hubspot.com ibb.co icloud-content.com icloud.com
  imdb.com imgur.com indeed.com instagram.com ipfs.io is.gd issuu.com jotform.com jsdelivr.net justpaste.it kakao.com ko-fi.com
  line.me linkedin.com linkin.bio linktr.ee live.com lnk.to lnkd.in loom.com m.me mailchi.mp mailchimp.com mastodon.social
  mediafire.com medium.com meetup.com mega.co.nz mega.nz messenger.com microsoft.com miro.com msn.com naver.com nextdoor.com
  notion.so npmjs.com office.com ok.ru outlook.com overleaf.com ow.ly padlet.com paste.ee pastebin.com patreon.com paypal.com
  paypal.me pin.it pinterest.com pixeldrain.com playstation.com postimg.cc prezi.com proton.me pypi.org qq.com quora.com rb.gy
  rebrand.ly redd.it reddit.com rentry.co replit.com researchgate.net roblox.com rutube.ru s.id salesforce.com scribd.com
  sendgrid.net sendspace.com sharepoint.com shopify.com shorturl.at signal.group skype.com slack.com slideshare.net smugmug.com
  snapchat.com soundcloud.com sourceforge.net spoti.fi spotify.com stackoverflow.com steamcommunity.com steampowered.com
  strava.com streamable.com surl.li surveymonkey.com t.co t.ly t.me taobao.com telegra.ph telegram.me telegram.org threads.net
  tiktok.com tiny.cc tinyurl.com tinyurl.is transfer.sh trello.com tripadvisor.com tumblr.com tutanota.com twitch.tv twitter.com
  typeform.com udemy.com unpkg.com upwork.com v.gd vimeo.com vk.com wa.me wechat.com weibo.com wetransfer.com whatsapp.com
  whereby.com wikimedia.org wikipedia.org wix.com wordpress.org workplace.com x.com xing.com yahoo.com yandex.ru yelp.com
  youku.com youtu.be youtube.com zendesk.com zhihu.com zoho.com zoom.us`.split(/\s+/),
);

/** Platforms that give each user a name below their own: only the platform itself is shared. */
const GIVE_NAMES: ReadonlySet<string> = new Set(
  `000webhost.com itch.io jimdo.com squarespace.com strikingly.com substack.com webflow.com weebly.com wixsite.com
  wordpress.com`.split(/\s+/),
);

/** Companies with one platform in many countries: `google.de`, `amazon.co.uk`. */
const WORLDWIDE =
  /(?:^|\.)(?:amazon|google|ebay|yahoo|yandex|booking|tripadvisor|indeed|etsy)\.(?:com?\.)?[a-z]{2,3}$/;

/** Whether many people share a host, so that a path says nothing about the rest of it. The name is in lower case. */
export function isSharedHost(name: string): boolean {
  if (WORLDWIDE.test(name) || GIVE_NAMES.has(name.replace(/^www\./, ""))) return true;
  if (withParents(name).some((parent) => PLATFORMS.has(parent))) return true;
  const bytes = encodeUtf8(name);
  return publicSuffixKind(bytes, 0, bytes.length) !== Suffix.No;
}

type LineTaker = (bytes: Uint8Array, start: number, end: number) => void;

/** Cuts bytes that end anywhere into lines. LF, CRLF and a lone CR end a line. */
export class WholeLines {
  private rest: Uint8Array = new Uint8Array(0);
  private readonly longest: number;
  private count = 0;

  constructor(longest: number = LONGEST_ROW) {
    this.longest = longest;
  }

  take(bytes: Uint8Array, line: LineTaker): void {
    const text = joined(this.rest, bytes);
    let start = 0;
    // A CR at the end may be the first half of CRLF.
    const last = text.at(-1) === CR ? text.length - 1 : text.length;
    for (let at = this.rest.length > 0 ? Math.max(0, this.rest.length - 1) : 0; at < last; at++) {
      const byte = text[at]!;
      if (byte !== LF && byte !== CR) continue;
      line(text, start, at);
      this.count++;
      if (byte === CR && text[at + 1] === LF) at++;
      start = at + 1;
    }
    if (text.length - start > this.longest)
      throw new FeedError(`line ${this.count + 1} is longer than ${this.longest} bytes`);
    this.rest = new Uint8Array(text.subarray(start));
  }

  end(line: LineTaker): void {
    const { rest } = this;
    const end = rest.at(-1) === CR ? rest.length - 1 : rest.length;
    if (rest.length > 0) line(rest, 0, end);
    this.rest = new Uint8Array(0);
  }
}

export function joined(rest: Uint8Array, more: Uint8Array): Uint8Array {
  if (rest.length === 0) return more;
  const all = new Uint8Array(rest.length + more.length);
  all.set(rest);
  all.set(more, rest.length);
  return all;
}

/** Turns a feed into lines: a name, or why a row has none. Memory does not grow with the feed. */
export interface FeedReader {
  /** Takes the next bytes, which may end anywhere. Throws a `FeedError`. */
  take(bytes: Uint8Array, lines: FeedLines): void;
  /** The feed is complete. Throws a `FeedError`. */
  end(lines: FeedLines): void;
}

/** The bytes are not the feed that the settings describe, or only a part of it. */
export class FeedError extends Error {}

/** The longest row or value. Real ones are below 10 KB. */
export const LONGEST_ROW = 65_536;

/** A feed that is CSV or JSON; its first character decides. */
export class DetectedFeed implements FeedReader {
  private readonly openCsv: () => FeedReader;
  private readonly openJson: () => FeedReader;
  private reader: FeedReader | undefined;

  constructor(openCsv: () => FeedReader, openJson: () => FeedReader) {
    this.openCsv = openCsv;
    this.openJson = openJson;
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    if (this.reader === undefined) {
      const first = bytes.find((byte) => byte > 32 && byte < 128);
      // `{` or `[`
      this.reader = first === 123 || first === 91 ? this.openJson() : this.openCsv();
    }
    this.reader.take(bytes, lines);
  }

  end(lines: FeedLines): void {
    this.reader?.end(lines);
  }
}

/** What a source says about its feed. Builds record it, so that a feed can be read again. */
export interface FeedSettings {
  /** The `type` of the source: a name in the registry. */
  readonly type: string;
  /** CSV: a name in the header, or a number from 1. */
  readonly column?: string | undefined;
  readonly delimiter?: string | undefined;
  /** Required values by column or key. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** JSON: a pointer (RFC 6901) in which `*` matches any key or index. */
  readonly path?: string | undefined;
  /** `host`: a URL with a path is a rule for its host, too. */
  readonly urls?: "whole" | "host" | undefined;
}

/** A condition on a row or an object. */
export interface RowCondition {
  readonly key: string;
  /** The row must have one of these values. */
  readonly values: readonly string[];
  /** Whether a row without this column or key passes. */
  readonly orAbsent?: true;
}

/** A condition that only objects can have: on a text, or on each text of an array. */
export interface Refusal {
  readonly key: string;
  readonly isRefused: (value: string) => boolean;
}

export function conditionsOf({ where = {} }: FeedSettings): RowCondition[] {
  return Object.entries(where).map(([key, value]) => ({ key, values: [value] }));
}
