import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { ChoiceColumn, NumberColumn } from "../parquet/number-columns.ts";
import type { Column } from "../parquet/column.ts";
import { TextColumn } from "../parquet/text-column.ts";
import type { RecordedSource } from "../record/record-format.ts";
import { FATES } from "../rules/fate.ts";
import { registrableStart } from "../syntax/registrable-domain.ts";
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
  private readonly before = new TextColumn("before");
  private readonly name = new TextColumn("name");
  private readonly after = new TextColumn("after");
  private readonly text = new TextColumn("text");
  private readonly domain = new NumberColumn("domain_length");
  private readonly kind = new ChoiceColumn("kind", KINDS);
  private readonly fate = new ChoiceColumn(
    "fate",
    FATES.map(([name]) => name),
  );
  private readonly cause = new NumberColumn("cause");

  constructor(lists: readonly string[], sources: readonly RecordedSource[]) {
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
  // oxlint-disable-next-line max-params -- numbers, not objects, in a loop over rows
  addNamed(
    bytes: Uint8Array,
    start: number,
    nameStart: number,
    nameEnd: number,
    end: number,
  ): void {
    this.before.add(bytes, start, nameStart);
    this.name.add(bytes, nameStart, nameEnd);
    this.after.add(bytes, nameEnd, end);
    this.text.addNull();
    this.addDomain(bytes, nameStart, nameEnd);
  }

  /** Any other line. The name may have upper-case or other letters. */
  addOther(text: string | undefined, written: string | undefined): void {
    const name = written === undefined ? undefined : normalName(written);
    const at = name === undefined ? -1 : (text?.indexOf(name) ?? -1);
    if (name !== undefined && at !== -1) {
      const bytes = encodeUtf8(text!);
      const before = encodeUtf8(text!.slice(0, at)).length;
      this.addNamed(bytes, 0, before, before + name.length, bytes.length);
      return;
    }
    this.before.addNull();
    this.after.addNull();
    if (text === undefined) this.text.addNull();
    else this.text.addText(text);
    if (name === undefined) {
      this.name.addNull();
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
