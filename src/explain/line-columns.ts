import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { ChoiceColumn, NumberColumn } from "../parquet/number-columns.ts";
import { DomainFinder, MAYBE_SUFFIX, NO_DOMAIN } from "../kernel/domain-finder.ts";
import type { KernelMemory } from "../kernel/kernel-memory.ts";
import type { Column } from "../parquet/column.ts";
import { TextColumn } from "../parquet/text-column.ts";
import type { RecordedSource } from "../record/record-format.ts";
import { COLUMN, type Chunk } from "../rules/chunk.ts";
import { FATES } from "../rules/fate.ts";
import { deepDomains, registrableStart } from "../syntax/registrable-domain.ts";
import { asciiLabels } from "../syntax/idna.ts";
import type { RecordedRows } from "./recorded-rows.ts";

/** What a line is, in the words of the dataset. */
export const KINDS = [
  "blank",
  "comment",
  "hosts",
  "domain",
  "block",
  "exception",
  "rule",
  "unknown",
] as const;

const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** The columns of `lines.parquet`. A text that contains its name is stored as what stands before and after the name. */
export class LineColumns {
  readonly all: readonly Column[];
  /** The list and the source of the rows that are added. */
  listNumber = 0;
  sourceNumber = 0;
  private readonly list: ChoiceColumn;
  private readonly source: ChoiceColumn;
  private readonly row = new NumberColumn("row");
  private readonly line = new NumberColumn("line");
  private readonly part = new NumberColumn("part");
  private readonly before: TextColumn;
  private readonly name: TextColumn;
  private readonly after: TextColumn;
  private readonly text: TextColumn;
  private readonly domain = new NumberColumn("domain_length");
  private readonly kind = new ChoiceColumn("kind", KINDS);
  private readonly fate = new ChoiceColumn(
    "fate",
    FATES.map(([name]) => name),
  );
  private readonly cause = new NumberColumn("cause");

  private readonly domains: DomainFinder;

  constructor(lists: readonly string[], sources: readonly RecordedSource[], kernel: KernelMemory) {
    this.before = new TextColumn("before", kernel);
    this.name = new TextColumn("name", kernel);
    this.after = new TextColumn("after", kernel);
    this.text = new TextColumn("text", kernel);
    this.domains = new DomainFinder(kernel, deepDomains());
    this.list = new ChoiceColumn("list", lists);
    this.source = new ChoiceColumn(
      "source",
      sources.map(({ label }) => label),
    );
    this.all = [
      this.list,
      this.source,
      this.row,
      this.line,
      this.part,
      this.before,
      this.name,
      this.after,
      this.text,
      this.domain,
      this.kind,
      this.fate,
      this.cause,
    ];
  }

  get length(): number {
    return this.list.length;
  }

  get byteCount(): number {
    return this.name.byteCount + this.text.byteCount + this.after.byteCount;
  }

  /** A line that consists of a name in lower-case ASCII and what is around it. */
  addNamed(line: Uint8Array, nameStart: number, nameEnd: number): void {
    this.before.add(line, 0, nameStart);
    this.name.add(line, nameStart, nameEnd);
    this.after.add(line, nameEnd, line.length);
    this.text.addNulls(1);
    this.addDomain(line, nameStart, nameEnd);
  }

  /** Lines of a chunk that consist of a name in lower-case ASCII and what is around it. Their columns may move. */
  addNamedRows(chunk: Chunk, from: number, to: number): void {
    const count = to - from;
    const at = (column: number): number => chunk.columnAt(column) + from * 4;
    const { bytesAt, byteCount } = chunk;
    const [startsAt, hostsAt] = [at(COLUMN.start), at(COLUMN.hostStart)];
    const [hostEndsAt, endsAt] = [at(COLUMN.hostEnd), at(COLUMN.end)];
    const names = { bytesAt, startsAt: hostsAt, endsAt: hostEndsAt };
    this.before.addSlices({ bytesAt, startsAt, endsAt: hostsAt }, count, byteCount);
    this.name.addSlices(names, count, byteCount);
    this.after.addSlices({ bytesAt, startsAt: hostEndsAt, endsAt }, count, byteCount);
    this.text.addNulls(count);
    const found = this.domains.find(names, count);
    const { bytes, hostStart, hostEnd } = chunk;
    for (let index = 0; index < count; index++) {
      const end = hostEnd[from + index]!;
      let start = found[index]!;
      if (start === MAYBE_SUFFIX) start = registrableStart(bytes, hostStart[from + index]!, end);
      found[index] = start === NO_DOMAIN ? -1 : end - start;
    }
    this.domain.addAll(found);
  }

  /** Any other line. The name may have upper-case or other letters. */
  addOther(text: string | undefined, written: string | undefined): void {
    const name = written === undefined ? undefined : normalName(written);
    const at = name === undefined ? -1 : (text?.indexOf(name) ?? -1);
    if (name !== undefined && at !== -1) {
      const bytes = encodeUtf8(text!);
      const before = encodeUtf8(text!.slice(0, at)).length;
      this.addNamed(bytes, before, before + name.length);
      return;
    }
    this.before.addNulls(1);
    this.after.addNulls(1);
    if (text === undefined) this.text.addNulls(1);
    else this.text.addText(text);
    if (name === undefined) {
      this.name.addNulls(1);
      this.domain.add(undefined);
    } else {
      const bytes = encodeUtf8(name);
      this.name.add(bytes, 0, bytes.length);
      this.addDomain(bytes, 0, bytes.length);
    }
  }

  /** What the record says about a row. */
  addRow({ row, line, part, fate, cause }: RecordedRows, kind: number): void {
    this.list.add(this.listNumber);
    this.source.add(this.sourceNumber);
    this.row.add(row);
    this.line.add(line);
    this.part.add(part);
    this.kind.add(kind);
    this.fate.add(fate);
    this.cause.add(cause);
  }

  /** What the record says about the next rows. */
  addRows(rows: RecordedRows, kinds: Uint8Array): void {
    const count = kinds.length;
    this.list.add(this.listNumber, count);
    this.source.add(this.sourceNumber, count);
    this.row.addAscending(rows.row, count);
    this.line.addAscending(rows.line, count);
    this.part.addSame(1, count);
    this.kind.addAll(kinds);
    this.fate.addAll(rows.fatesOf(count));
    this.cause.addAll(rows.causesOf(count));
  }

  private addDomain(bytes: Uint8Array, start: number, end: number): void {
    const domain = registrableStart(bytes, start, end);
    this.domain.add(domain === -1 ? undefined : end - domain);
  }
}

/** A name in lower-case ASCII; undefined if the text is not one. */
export function normalName(text: string): string | undefined {
  const name = asciiLabels(text.toLowerCase()).replace(/\.$/, "");
  return NAME.test(name) ? name : undefined;
}

/** Whether bytes are a name as it is stored: the scanner knows it for most. */
export function isStoredName(bytes: Uint8Array, start: number, end: number): boolean {
  return NAME.test(decodeUtf8(bytes, start, end));
}
