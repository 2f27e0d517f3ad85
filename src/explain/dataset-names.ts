import { hashName } from "../bytes/hash.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { DomainFinder, MAYBE_SUFFIX, NO_DOMAIN } from "../kernel/domain-finder.ts";
import { KernelMemory } from "../kernel/kernel-memory.ts";
import { LineScanner } from "../kernel/line-scanner.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { Column } from "../parquet/column.ts";
import { FlagColumn, NumberColumn, TimeColumn } from "../parquet/number-columns.ts";
import { ParquetFile } from "../parquet/parquet-file.ts";
import { TextColumn } from "../parquet/text-column.ts";
import { CHUNK_ROWS, type Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import { readLedger } from "../sources/ledger.ts";
import { FileBlocks } from "../sources/text-blocks.ts";
import { ListScan } from "../syntax/list-scan.ts";
import { suffixTables } from "../syntax/public-suffix.ts";
import { deepDomains, registrableStart } from "../syntax/registrable-domain.ts";
import type { NamedRecord } from "./dataset-lines.ts";
import { namesIn } from "./line-names.ts";
import { normalName } from "./line-columns.ts";
import { NameTable } from "./name-table.ts";
import { readRecorded } from "./read-recorded.ts";

/** A published list. */
export interface PublishedNames extends NamedRecord {
  readonly path: string;
}

/** What is known about the names of a pass. Times are in seconds since 1970. */
interface NameFacts {
  readonly names: NameTable;
  /** By list, the numbers of its names. */
  readonly lists: readonly NumberSet[];
  readonly dates: ReadonlyMap<number, { readonly first: number; readonly last: number }>;
}

/** Takes a name with its hash (`hashName`). */
type NameTaker = (bytes: Uint8Array, start: number, end: number, hash: number) => void;

/** How many names a pass holds in memory, on average. */
const PASS_NAMES = 2_000_000;
const GROUP_ROWS = 131_072;

/**
 * Writes the names that lists block by a rule that is only a name, each once: `names.parquet`. Several lists are joined in passes over
 * all of them, each for the names with certain hashes, so that memory does not grow with the lists.
 */
export class DatasetNames {
  private readonly cacheDir: string | undefined;
  private readonly host: Host;
  private readonly ranks: RankedNames | undefined;
  private readonly kernel = new KernelMemory();
  private readonly scanner = new LineScanner(this.kernel, suffixTables());
  private readonly domains = new DomainFinder(this.kernel, deepDomains());
  private readonly name = new TextColumn("name", this.kernel);
  private readonly domain = new TextColumn("domain", this.kernel);
  private readonly rank = new NumberColumn("rank");
  private readonly firstSeen = new TimeColumn("first_seen");
  private readonly lastSeen = new TimeColumn("last_seen");

  constructor(cacheDir: string | undefined, host: Host, ranks: RankedNames | undefined) {
    this.cacheDir = cacheDir;
    this.host = host;
    this.ranks = ranks;
  }

  /** Rejects with the error of `out`, or with a `HostError` if a list cannot be read. */
  async write(
    lists: readonly PublishedNames[],
    out: (bytes: Uint8Array) => void,
    passNames: number = PASS_NAMES,
  ): Promise<number> {
    const flags = lists.map(({ name }) => new FlagColumn(`in ${name}`));
    const { name, domain, rank, firstSeen, lastSeen } = this;
    const columns: Column[] = [name, domain, rank, firstSeen, lastSeen, ...flags];
    const file = new ParquetFile(columns, this.kernel, out);
    const rules = lists.reduce((sum, { record }) => sum + record.header.rules, 0);
    const passes = Math.max(1, Math.ceil(rules / passNames));
    for (let pass = 0; pass < passes; pass++) {
      const isOfPass = (hash: number): boolean => passes === 1 || (hash >>> 0) % passes === pass;
      const facts = await this.factsOf(lists, isOfPass, Math.ceil(rules / passes));
      for (let from = 0; from < facts.names.length;) {
        const room = Math.min(GROUP_ROWS - name.length, CHUNK_ROWS);
        const to = Math.min(from + room, facts.names.length);
        this.add(from, to, facts);
        for (const [list, flag] of flags.entries())
          for (let index = from; index < to; index++) flag.add(facts.lists[list]!.has(index));
        if (name.length >= GROUP_ROWS) file.writeGroup();
        from = to;
      }
    }
    file.finish();
    return file.rows;
  }

  /** Adds up to 65,536 names and what is known about them. */
  private add(from: number, to: number, { names, dates }: NameFacts): void {
    this.addNames(from, to, names);
    if (this.ranks === undefined) this.rank.addNulls(to - from);
    else
      for (let index = from; index < to; index++)
        this.rank.add(
          this.ranks.rankOf(decodeUtf8(names.bytes, names.startOf(index), names.endOf(index))),
        );
    if (dates.size === 0) {
      this.firstSeen.addNulls(to - from);
      this.lastSeen.addNulls(to - from);
      return;
    }
    for (let index = from; index < to; index++) {
      const { first, last } = dates.get(index) ?? {};
      this.firstSeen.add(first && first * 1000);
      this.lastSeen.add(last && last * 1000);
    }
  }

  private addNames(from: number, to: number, names: NameTable): void {
    const { name, domain, domains } = this;
    const { length, byteCount } = name;
    name.addConsecutive(names.bytes, names.startOf(from), names.endsOf(from, to));
    const slices = name.slicesFrom(length);
    const found = domains.find(slices, to - from);
    const shift = byteCount - names.startOf(from);
    const without: number[] = [];
    for (let row = 0; row < found.length; row++) {
      if (found[row] === MAYBE_SUFFIX) {
        const start = registrableStart(
          names.bytes,
          names.startOf(from + row),
          names.endOf(from + row),
        );
        found[row] = start === -1 ? NO_DOMAIN : start + shift;
      }
      if (found[row] === NO_DOMAIN) without.push(row);
    }
    let row = 0;
    for (const next of [...without, to - from]) {
      const own = {
        bytesAt: slices.bytesAt,
        startsAt: domains.startsAt + row * 4,
        endsAt: slices.endsAt + row * 4,
      };
      domain.addSlices(own, next - row, name.byteCount);
      if (next < to - from) domain.addNulls(1);
      row = next + 1;
    }
  }

  private async factsOf(
    lists: readonly PublishedNames[],
    isOfPass: (hash: number) => boolean,
    expected: number,
  ): Promise<NameFacts> {
    const names = new NameTable(Math.max(1024, expected));
    const numbers = lists.map(() => new NumberSet());
    for (const [list, { path }] of lists.entries())
      await this.readNames(path, (bytes, start, end, hash) => {
        if (isOfPass(hash)) numbers[list]!.add(names.add(bytes, start, end, hash));
      });
    const dates = new Map<number, { first: number; last: number }>();
    for (const { record } of lists)
      for (const { ledger } of record.header.sources)
        if (ledger !== undefined) await this.readDates(ledger, names, dates);
    return { names, lists: numbers, dates };
  }

  /** Passes on the names of a list, in lower-case ASCII. */
  private async readNames(path: string, take: NameTaker): Promise<void> {
    const pool = new ChunkPool(this.kernel);
    const options = { hashComments: false, splitHosts: false, scanner: this.scanner };
    const scan = new ListScan(pool, options, (chunk) => {
      for (let row = 0; row < chunk.length; row++) takeNames(chunk, row, take);
      chunk.leave();
      pool.chunks.length = 0;
    });
    const file = await this.host.openFile(path);
    try {
      const lines = { origin: 0, nextLine: 1 };
      for await (const block of new FileBlocks(file, path, []).blocks(new Uint8Array(0)))
        scan.read(lines, block, { start: 0, end: block.bytes.length, fate: Fate.Live });
      scan.flush();
    } finally {
      await file.close();
    }
    this.kernel.freeAll();
  }

  /** Enters when sources with `keep` saw the names. */
  private async readDates(
    sha256: string,
    names: NameTable,
    dates: Map<number, { first: number; last: number }>,
  ): Promise<void> {
    const always = { now: Infinity, from: 0 };
    await readRecorded({ source: 0, file: "", sha256 }, this.cacheDir, this.host, async (file) => {
      for await (const { text, first, last } of readLedger(file, always)) {
        const name = normalName(text.replace(/^\|\|(.*)\^$/, "$1"));
        const index = name === undefined ? -1 : names.find(encodeUtf8(name));
        if (index === -1) continue;
        const known = dates.get(index) ?? { first, last };
        dates.set(index, {
          first: Math.min(known.first, first),
          last: Math.max(known.last, last),
        });
      }
    });
  }
}

/** A set of small numbers. */
class NumberSet {
  private bits = new Uint8Array(1024);

  add(number: number): void {
    const at = number >> 3;
    if (at >= this.bits.length) {
      const grown = new Uint8Array(at * 2);
      grown.set(this.bits);
      this.bits = grown;
    }
    this.bits[at]! |= 1 << (number & 7);
  }

  has(number: number): boolean {
    return ((this.bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }
}

function takeNames(chunk: Chunk, row: number, take: NameTaker): void {
  const { kind, flags, bytes, hostStart, hostEnd, start, end } = chunk;
  if (kind[row]! < Kind.Hosts || kind[row]! > Kind.Block) return;
  const about = flags[row]! & (Flag.PlainHost | Flag.UpperHost | Flag.SeveralNames);
  if (about === Flag.PlainHost) {
    take(bytes, hostStart[row]!, hostEnd[row]!, chunk.hostHash[row]!);
    return;
  }
  const text = decodeUtf8(bytes, start[row], end[row]);
  const names = namesIn(text) ?? [decodeUtf8(bytes, hostStart[row], hostEnd[row])];
  for (const written of names) {
    const name = normalName(written);
    if (name === undefined) continue;
    const own = encodeUtf8(name);
    take(own, 0, own.length, hashName(own, 0, own.length));
  }
}
