import { Class, lowerByte } from "../bytes/text.ts";
import {
  type Chunk,
  Flag,
  Kind,
  hostOf,
  rewriteText,
  textOf,
  toBlockRule,
} from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { classifyAgain, pointAtHost } from "../syntax/classify.ts";
import { commentedDomainEnd, lastHost, readHostBytes } from "../syntax/host-name.ts";
import {
  filterNames,
  hostsLine,
  isIpv4Text,
  isIpv6Text,
  isLocalName,
  mayBeLocalName,
  nextName,
  readHostsLine,
} from "../syntax/hosts-line.ts";
import { quickAscii } from "../syntax/written-names.ts";
import {
  BarrierStage,
  type Pass,
  type Stage,
  type StageContext,
  type TransformationContext,
} from "./stage.ts";

/** Where search engines and video sites answer without adult content: names, and addresses that zones have instead of them. */
const SAFE_SEARCH: ReadonlySet<string> = new Set([
  "forcesafesearch.google.com",
  "216.239.38.120",
  "2001:4860:4802:32::78",
  "restrict.youtube.com",
  "216.239.38.119",
  "2001:4860:4802:32::77",
  "restrictmoderate.youtube.com",
  "strict.bing.com",
  "204.79.197.220",
  "safe.duckduckgo.com",
  "safesearch.pixabay.com",
  "familysearch.yandex.ru",
  "213.180.193.56",
  "2a02:6b8::feed:a11",
  "strict-safe-search.ecosia.org",
  "safesearch.brave.com",
  "forcesafe.search.brave.com",
  "safe.qwant.com",
  "safeapi.qwant.com",
  "safe.startpage.com",
  "eu-safe.startpage.com",
]);

/** A hosts line with several names, and the current position in it. */
interface HostsHead {
  readonly bytes: Uint8Array;
  nameEnd: number;
  readonly namesEnd: number;
}

/** Turns hosts lines into one row per name. The scanner reserved rows for the further names. */
export class HostsSplitter {
  private readonly context: TransformationContext;
  /** The line whose further names go into the next spare rows. */
  private head: HostsHead | undefined;

  constructor(context: TransformationContext) {
    this.context = context;
  }

  split(chunk: Chunk, row: number): void {
    this.head = undefined;
    const flags = chunk.flags[row]!;
    if (chunk.hostStart[row] === chunk.hostEnd[row]) {
      this.context.warn("no-name", chunk, row);
      chunk.drop(row, Fate.NoName);
      return;
    }
    if ((flags & Flag.SeveralNames) !== 0) {
      // Spare rows are missing only if another transformation produced the hosts line. Then it stays.
      if (spareRowsAfter(chunk, row) < countFurtherNames(chunk, row)) return;
      const { namesEnd } = hostsLine;
      this.head = headOf(chunk, row, namesEnd);
    }
    if ((flags & Flag.RealAddress) !== 0 && blocksName(chunk, row))
      this.context.warn("real-address", chunk, row);
    this.become(chunk, row);
  }

  /** Gives a spare row the next name of the line above. */
  fill(chunk: Chunk, row: number): void {
    const { head } = this;
    if (head === undefined) return;
    const { bytes } = head;
    hostsLine.nameEnd = head.nameEnd;
    hostsLine.namesEnd = head.namesEnd;
    if (!nextName(bytes)) return;
    head.nameEnd = hostsLine.nameEnd;
    let start = hostsLine.nameStart;
    let end = hostsLine.nameEnd;
    if (bytes !== chunk.bytes) {
      start = chunk.rewritten.append(bytes, start, end);
      end = start + hostsLine.nameEnd - hostsLine.nameStart;
      chunk.flags[row]! |= Flag.Rewritten;
    }
    chunk.start[row] = start;
    chunk.end[row] = end;
    chunk.fate[row] = Fate.Kept;
    pointAtHost(chunk, row, start, end);
    if ((lastHost.mask & Class.NonAscii) !== 0) {
      chunk.flags[row]! |= Flag.NonAscii;
      chunk.has.nonAscii = true;
    }
    this.become(chunk, row);
  }

  private become(chunk: Chunk, row: number): void {
    if (hasLocalName(chunk, row)) chunk.drop(row, Fate.LocalName);
    toBlockRule(chunk, row);
  }

  /**
   * `ads.example # note` is not a rule as written, and a validator drops it. If a validator follows, or the source's type
   * implies names, the name is used.
   */
  readCommentedDomain(chunk: Chunk, row: number): void {
    if (this.context.validator === undefined && !chunk.hashComments) return;
    const end = commentedDomainEnd(chunk, row);
    if (end === -1) return;
    const start = chunk.start[row]!;
    pointAtHost(chunk, row, start, end);
    toBlockRule(chunk, row);
  }

  /** Lower-cases the name, the key of everything that follows. The text of a rule in adblock syntax does not change. */
  foldHost(chunk: Chunk, row: number): void {
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    const isVerbatim = (chunk.flags[row]! & Flag.AsBlock) === 0;
    if (isVerbatim) {
      const at = chunk.rewritten.append(bytes, chunk.start[row]!, chunk.end[row]!);
      chunk.end[row] = at + chunk.end[row]! - chunk.start[row]!;
      chunk.start[row] = at;
    }
    const at = chunk.rewritten.append(bytes, start, end);
    const folded = chunk.rewritten.bytes;
    for (let i = at; i < at + end - start; i++) folded[i] = lowerByte(folded[i]!);
    chunk.hostStart[row] = at;
    chunk.hostEnd[row] = at + end - start;
    readHostBytes(folded, at, at + end - start);
    chunk.hostHash[row] = lastHost.hash;
    chunk.hostPart[row] = lastHost.part;
    const flags = chunk.flags[row]! | Flag.Rewritten;
    chunk.flags[row] = isVerbatim ? flags : flags & ~Flag.UpperHost;
  }
}

function hasLocalName(chunk: Chunk, row: number): boolean {
  const start = chunk.hostStart[row]!;
  const length = chunk.hostEnd[row]! - start;
  return mayBeLocalName(chunk.bytesOf(row)[start]!, length) && isLocalName(hostOf(chunk, row));
}

/** Whether a hosts line has a name that is not local. */
function blocksName(chunk: Chunk, row: number): boolean {
  if (!hasLocalName(chunk, row)) return true;
  return filterNames(textOf(chunk, row), (name) => !isLocalName(name)) !== undefined;
}

/** Copies the line if its names continue in the next chunk, when this one may be in a scratch file. */
function headOf(chunk: Chunk, row: number, namesEnd: number): HostsHead {
  const bytes = chunk.bytesOf(row);
  const nameEnd = chunk.hostEnd[row]!;
  if (continuedEnd(chunk, row) < chunk.length || chunk.spareBeyond === 0)
    return { bytes, nameEnd, namesEnd };
  const start = chunk.start[row]!;
  return {
    bytes: bytes.slice(start, namesEnd),
    nameEnd: nameEnd - start,
    namesEnd: namesEnd - start,
  };
}

/** How many rows are reserved for further names of a hosts line. */
function spareRowsAfter(chunk: Chunk, row: number): number {
  const end = continuedEnd(chunk, row);
  return end - row - 1 + (end === chunk.length ? chunk.spareBeyond : 0);
}

/** The first row below that is not for another name of the same line. */
function continuedEnd(chunk: Chunk, row: number): number {
  let at = row + 1;
  while (at < chunk.length && (chunk.flags[at]! & Flag.Continued) !== 0) at++;
  return at;
}

function countFurtherNames(chunk: Chunk, row: number): number {
  const bytes = chunk.bytesOf(row);
  readHostsLine(bytes, chunk.start[row]!, chunk.end[row]!);
  let count = 0;
  while (nextName(bytes)) count++;
  return count;
}

const REWRITE = "$dnsrewrite=";
/** In a smaller zone, a common target may be a server of the author. */
const LEAST_RECORDS = 50;
/** Targets that are counted at a time. */
const MOST_TARGETS = 64;

/**
 * The operator of a zone may answer every blocked name with a landing page. A target that most names of a zone have is such a page, so
 * its records are blocks; all others are rewrites. Records for safe search are always rewrites.
 */
export class Sinkholes extends BarrierStage {
  private readonly finder: StageContext["finder"];
  /** Each target is counted too low by at most the 65th part of all, so that a zone with many targets needs little memory. */
  private readonly targets = new Map<string, number>();
  private readonly sinkholes = new Set<string>();
  private records = 0;
  private names = 0;
  private lastName = "";

  constructor({ pool, finder }: StageContext) {
    super(pool.cache);
    this.finder = finder;
  }

  protected gather(chunk: Chunk): void {
    const { fate, kind, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (fate[row] === Fate.Joined) this.records++;
      if (fate[row] !== Fate.Kept || kind[row]! < Kind.Hosts) continue;
      this.records++;
      const [name, target] = kind[row] === Kind.Rule ? partsOf(textOf(chunk, row)) : [""];
      // Addresses of both families are two records of one name.
      if (target === undefined || name !== this.lastName) this.names++;
      this.lastName = name;
      if (target !== undefined) this.count(target);
    }
  }

  private count(target: string): void {
    const { targets } = this;
    const known = targets.get(target);
    if (known !== undefined || targets.size < MOST_TARGETS) {
      targets.set(target, (known ?? 0) + 1);
      return;
    }
    for (const [other, times] of targets)
      if (times === 1) targets.delete(other);
      else targets.set(other, times - 1);
  }

  protected resolve(): void {
    if (this.records < LEAST_RECORDS) return;
    for (const [target, times] of this.targets)
      if (times > this.names / 2 && !SAFE_SEARCH.has(target)) this.sinkholes.add(target);
  }

  protected apply(chunk: Chunk): void {
    if (this.sinkholes.size === 0) return;
    for (const row of this.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule) continue;
      const [, target] = partsOf(textOf(chunk, row));
      if (target === undefined || !this.sinkholes.has(target)) continue;
      chunk.end[row]! -= REWRITE.length + target.length;
      classifyAgain(chunk, row);
    }
  }

  protected close(): void {}
}

/** The name and the target of a rule, as the reader of a zone writes them: ASCII. */
function partsOf(text: string): [pattern: string, target?: string] {
  const at = text.indexOf(REWRITE);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + REWRITE.length)];
}

/** Makes a hosts line of each name of a hosts line, so that each has its own fate. The scanner reserved rows for them. */
export class SplitHosts implements Stage {
  private readonly context: StageContext;
  /** Lines for the next spare rows. */
  private further: string[] = [];

  constructor(context: StageContext) {
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    for (const row of this.context.finder.specialOrSpare(chunk))
      if (chunk.fate[row] === Fate.Spare) this.fill(chunk, row);
      else this.split(chunk, row);
    pass(chunk);
  }

  end(): void {}

  private split(chunk: Chunk, row: number): void {
    this.further = [];
    if (chunk.kind[row] !== Kind.Hosts || (chunk.flags[row]! & Flag.SeveralNames) === 0) return;
    const names: string[] = [];
    const line = textOf(chunk, row);
    const first = filterNames(line, (name) => names.push(name) === 1);
    // Spare rows are missing only if another transformation produced the hosts line. Then it stays.
    if (first === undefined || spareRowsAfter(chunk, row) < names.length - 1) return;
    const address = /\S+/.exec(line)![0];
    this.further = names.slice(1).map((name) => `${address} ${name}`);
    rewriteText(chunk, row, first);
    classifyAgain(chunk, row);
  }

  private fill(chunk: Chunk, row: number): void {
    const text = this.further.shift();
    if (text === undefined) return;
    chunk.fate[row] = Fate.Kept;
    rewriteText(chunk, row, text);
    classifyAgain(chunk, row);
  }
}

const NAME = /^(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * `192.168.1.10 nas.home` in a fully trusted source says where the name is. Resolvers read such a line in different ways, and Compress
 * makes a block of a hosts line, so it becomes a `$dnsrewrite` rule, one for each name. The scanner reserved rows for them.
 */
export class OwnAddresses implements Stage {
  private readonly context: StageContext;
  /** Rules for the next spare rows. */
  private further: string[] = [];

  constructor(context: StageContext) {
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    for (const row of this.context.finder.specialOrSpare(chunk))
      if (chunk.fate[row] !== Fate.Spare) this.rewrite(chunk, row);
      else if (this.further.length > 0) this.become(chunk, row, this.further.shift()!);
    pass(chunk);
  }

  end(): void {}

  private rewrite(chunk: Chunk, row: number): void {
    this.further = [];
    if (chunk.kind[row] !== Kind.Hosts || (chunk.flags[row]! & Flag.RealAddress) === 0) return;
    const line = textOf(chunk, row);
    const address = /\S+/.exec(line)![0];
    // With a zone, such as fe80::1%lo0, a server cannot answer with it.
    if (!isIpv4Text(address) && !isIpv6Text(address)) return;
    const names: string[] = [];
    filterNames(line, (name) => names.push(quickAscii(name).toLowerCase()) > 0);
    const meant = names.filter((name) => NAME.test(name) && !isLocalName(name));
    if (meant.length === 0 || spareRowsAfter(chunk, row) < meant.length - 1) return;
    const [first, ...further] = meant.map((name) => `|${name}^$dnsrewrite=${address}`);
    this.further = further;
    this.become(chunk, row, first!);
  }

  private become(chunk: Chunk, row: number, text: string): void {
    chunk.fate[row] = Fate.Kept;
    rewriteText(chunk, row, text);
    classifyAgain(chunk, row);
  }
}
