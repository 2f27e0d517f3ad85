import type { Scratch } from "../host/host.ts";
import { AT, CURSOR, type KernelMemory } from "./kernel.ts";

/** Bytes that the kernel may write beyond the end of a full page: it copies eight at a time. */
const SLACK = 8;

interface Page {
  /** Address in the kernel's memory, or -1 if it is in the scratch file. */
  at: number;
  used: number;
  position: number;
  readonly size: number;
}

/** Memory for pages, shared by all lists of one kernel. Evicted pages make room for others. */
export class PageStock {
  readonly kernel: KernelMemory;
  readonly budget: MemoryBudget;
  private readonly lists: PagedLists[] = [];
  private inUse = 0;
  /** Free pages. They stay here for reuse, because lists take and release many. */
  private readonly spare: number[] = [];
  private scratch: Scratch | undefined;
  private readonly keptAreas: { readonly at: number; readonly size: number }[] = [];
  private readonly areas = { pages: { at: 0, size: 0 }, table: { at: 0, size: 0 } };

  constructor(kernel: KernelMemory, budget: MemoryBudget) {
    this.kernel = kernel;
    this.budget = budget;
  }

  add(lists: PagedLists): void {
    this.lists.push(lists);
  }

  /** A page with room for `bytes`. */
  take(bytes: number): Page {
    const { pageBytes, pagesLimit } = this.budget;
    if (this.inUse >= pagesLimit) {
      this.scratch ??= this.budget.openScratch();
      for (const lists of this.lists) lists.putAside(this.scratch);
    }
    this.inUse += pageBytes;
    const size = Math.max(pageBytes, bytes + SLACK);
    const spare = size === pageBytes ? this.spare.pop() : undefined;
    return { at: spare ?? this.kernel.allocate(size), used: 0, position: -1, size };
  }

  release({ at, size }: Page): void {
    if (size === this.budget.pageBytes) this.spare.push(at);
    else this.kernel.free(at, size);
    this.inUse -= this.budget.pageBytes;
  }

  /** A temporary area. The next call with the same kind reuses it. */
  workArea(kind: "pages" | "table", size: number): number {
    const area = this.areas[kind];
    if (size > area.size) {
      if (area.size > 0) this.kernel.free(area.at, area.size);
      area.size = size;
      area.at = this.kernel.allocate(area.size);
    }
    return area.at;
  }

  /** An area that stays allocated until `close`. */
  keep(size: number): number {
    const at = this.kernel.allocate(size);
    this.keptAreas.push({ at, size });
    return at;
  }

  read(page: Page, to: number): void {
    this.scratch!.read(page.position, this.kernel.bytes(to, page.used));
  }

  close(): void {
    for (const lists of this.lists) lists.clearAll();
    for (const page of this.spare) this.kernel.free(page, this.budget.pageBytes);
    this.spare.length = 0;
    for (const { at, size } of this.keptAreas.splice(0)) this.kernel.free(at, size);
    for (const area of Object.values(this.areas))
      if (area.size > 0) this.kernel.free(area.at, area.size);
    this.scratch?.close();
    this.scratch = undefined;
  }
}

/** Addresses of a run of records in the kernel's memory. */
export interface RecordRun {
  readonly start: number;
  readonly end: number;
}

/** Append-only lists of records, in pages. Pages that do not fit into memory are in the scratch file. */
export class PagedLists {
  private readonly stock: PageStock;
  private readonly pages: Page[][];
  /** Full pages in memory, which can be evicted. */
  private full: { readonly list: number; readonly page: Page }[] = [];
  /** Lists that must stay in memory, because callers hold addresses of their records. */
  private readonly kept = new Set<number>();
  private inUse = -1;
  /** Address of the cursors. Each list has the next free address, the end of its page and the number of records. */
  readonly cursors: number;

  constructor(stock: PageStock, count: number) {
    this.stock = stock;
    this.pages = Array.from({ length: count }, () => []);
    this.cursors = stock.kernel.allocate(count * CURSOR.Bytes);
    stock.kernel.words(this.cursors, count * (CURSOR.Bytes / 4)).fill(0);
    stock.add(this);
  }

  refill(list: number, bytes: number): void {
    this.close(list);
    const last = this.pages[list]!.at(-1);
    if (last !== undefined) this.full.push({ list, page: last });
    const page = this.stock.take(bytes);
    this.pages[list]!.push(page);
    const cursor = this.stock.kernel.words(this.cursors + list * CURSOR.Bytes, 2);
    cursor[0] = page.at;
    cursor[1] = page.at + page.size - SLACK;
  }

  /** Stores how much of the list's last page is used. */
  private close(list: number): void {
    const page = this.pages[list]!.at(-1);
    if (page === undefined || page.at === -1) return;
    page.used = this.stock.kernel.words(this.cursors + list * CURSOR.Bytes, 1)[0]! - page.at;
  }

  /** Appends a record (see kernel/kernel.ts). Used for the few records that the kernel does not append itself. */
  // oxlint-disable-next-line max-params -- numbers, not objects, in a loop over rows
  append(
    list: number,
    hash: number,
    id: number,
    flags: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const { kernel } = this.stock;
    const cursor = (this.cursors + list * CURSOR.Bytes) >>> 2;
    const length = end - start;
    if (length > 0xffff) throw new Error("a record is too long");
    const size = (AT.Text + length + 3) & ~3;
    // A new page may make the arena grow, which invalidates `bytes` if it is a view of the arena.
    const isInArena = bytes.buffer === kernel.buffer;
    const address = bytes.byteOffset + start;
    if (kernel.u32[cursor]! + size > kernel.u32[cursor + 1]!) this.refill(list, size);
    const { u32, u8 } = kernel;
    const at = u32[cursor]!;
    u32[(at + AT.Hash) >>> 2] = hash;
    u32[(at + AT.Id) >>> 2] = id;
    u32[(at + AT.By) >>> 2] = 0;
    u32[(at + AT.Length) >>> 2] = length | (flags << 16);
    u32[cursor] = at + size;
    u32[cursor + 2]!++;
    const from = isInArena ? u8 : bytes;
    let next = isInArena ? address : start;
    for (let to = at + AT.Text; to < at + AT.Text + length; to++) u8[to] = from[next++]!;
  }

  putAside(scratch: Scratch): void {
    const kept: typeof this.full = [];
    for (const entry of this.full) {
      const { list, page } = entry;
      if (page.at === -1) continue;
      if (list === this.inUse || this.kept.has(list)) {
        kept.push(entry);
        continue;
      }
      page.position = scratch.append(this.stock.kernel.bytes(page.at, page.used));
      this.stock.release(page);
      page.at = -1;
    }
    this.full = kept;
  }

  /**
   * All records of the list, in order, in the kernel's memory. Valid until the next call for any list of the stock, or
   * with `isKept` until the list is cleared.
   */
  runsOf(list: number, isKept = false): RecordRun[] {
    this.close(list);
    if (isKept) this.kept.add(list);
    else this.inUse = list;
    const pages = this.pages[list]!;
    const away = pages.reduce((sum, { at, used }) => (at === -1 ? sum + used : sum), 0);
    let next = 0;
    if (away > 0) next = isKept ? this.stock.keep(away) : this.stock.workArea("pages", away);
    return pages.map((page) => {
      let start = page.at;
      if (start === -1) {
        start = next;
        this.stock.read(page, start);
        next += page.used;
      }
      return { start, end: start + page.used };
    });
  }

  countOf(list: number): number {
    return this.stock.kernel.u32[(this.cursors + list * CURSOR.Bytes + CURSOR.Count) >>> 2]!;
  }

  /** The maximum over all lists of records, pages, and bytes in the scratch file. Used to size work areas. */
  largest(): { records: number; pages: number; away: number } {
    let records = 0;
    let most = 0;
    let away = 0;
    for (const [list, pages] of this.pages.entries()) {
      records = Math.max(records, this.countOf(list));
      most = Math.max(most, pages.length);
      away = Math.max(
        away,
        pages.reduce((sum, { at, used }) => (at === -1 ? sum + used : sum), 0),
      );
    }
    return { records, pages: most, away };
  }

  clearAll(): void {
    for (let list = 0; list < this.pages.length; list++) this.clear(list);
    this.stock.kernel.free(this.cursors, this.pages.length * CURSOR.Bytes);
  }

  /** Frees the list's records. */
  clear(list: number): void {
    for (const page of this.pages[list]!) {
      if (page.at !== -1) this.stock.release(page);
      page.at = -1;
    }
    this.pages[list] = [];
    this.kept.delete(list);
    this.stock.kernel.words(this.cursors + list * CURSOR.Bytes, CURSOR.Bytes / 4).fill(0);
  }
}

/** The memory for comparing rows with each other. It affects neither what is compared nor the result. */
export interface MemoryBudget {
  readonly kernel: KernelMemory;
  /** Records are divided into this many partitions, a power of two up to 256. */
  readonly partitions: number;
  /** Bytes per page; each partition fills one page at a time. */
  readonly pageBytes: number;
  /** Bytes of pages to keep in memory; further pages go to the scratch file. */
  readonly pagesLimit: number;
  openScratch(): Scratch;
}
