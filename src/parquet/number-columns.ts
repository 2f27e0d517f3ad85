import type { SchemaElement } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { deltaBinaryPack } from "hyparquet-writer/src/delta.js";
import { writeRleBitPackedHybrid } from "hyparquet-writer/src/encoding.js";
import { type Column, Numbers, Presence } from "./column.ts";
import { packNumbers } from "./pack-numbers.ts";

/** Numbers of 31 bits, as differences: consecutive ones cost nothing. */
export class NumberColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "DELTA_BINARY_PACKED";
  readonly presence: Presence = new Presence();
  length = 0;
  private readonly numbers = new Numbers();

  constructor(name: string) {
    this.element = { name, type: "INT32", repetition_type: "OPTIONAL" };
  }

  add(value: number | undefined): void {
    this.presence.add(value !== undefined);
    if (value !== undefined) this.numbers.push(value);
    this.length++;
  }

  write(page: ByteWriter): void {
    packNumbers(page, this.numbers.view());
  }

  clear(): void {
    this.length = this.numbers.length = 0;
    this.presence.clear();
  }
}

/** Moments in milliseconds since 1970. */
export class TimeColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "DELTA_BINARY_PACKED";
  readonly presence: Presence = new Presence();
  length = 0;
  private values: bigint[] = [];

  constructor(name: string) {
    this.element = {
      name,
      type: "INT64",
      converted_type: "TIMESTAMP_MILLIS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
      repetition_type: "OPTIONAL",
    };
  }

  add(milliseconds: number | undefined): void {
    this.presence.add(milliseconds !== undefined);
    if (milliseconds !== undefined) this.values.push(BigInt(milliseconds));
    this.length++;
  }

  write(page: ByteWriter): void {
    deltaBinaryPack(page, this.values);
  }

  clear(): void {
    this.length = 0;
    this.values = [];
    this.presence.clear();
  }
}

/** True or false, as runs. */
export class FlagColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "RLE";
  readonly presence = undefined;
  private readonly numbers = new Numbers();

  constructor(name: string) {
    this.element = { name, type: "BOOLEAN", repetition_type: "REQUIRED" };
  }

  get length(): number {
    return this.numbers.length;
  }

  add(isTrue: boolean): void {
    this.numbers.push(Number(isTrue));
  }

  write(page: ByteWriter): void {
    const runs = new ByteWriter();
    writeRleBitPackedHybrid(runs, this.numbers.view(), 1);
    page.appendUint32(runs.offset);
    page.appendBytes(runs.getBytes());
  }

  clear(): void {
    this.numbers.length = 0;
  }
}

/** One of a few texts, by its number. */
export class ChoiceColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "RLE_DICTIONARY";
  readonly presence = undefined;
  readonly dictionary: readonly string[];
  private readonly numbers = new Numbers();

  constructor(name: string, choices: readonly string[]) {
    this.dictionary = choices;
    this.element = {
      name,
      type: "BYTE_ARRAY",
      converted_type: "UTF8",
      logical_type: { type: "STRING" },
      repetition_type: "REQUIRED",
    };
  }

  get length(): number {
    return this.numbers.length;
  }

  /** Takes an index of the choices. */
  add(choice: number): void {
    this.numbers.push(choice);
  }

  write(page: ByteWriter): void {
    const width = Math.max(1, 32 - Math.clz32(this.dictionary.length - 1));
    page.appendUint8(width);
    writeRleBitPackedHybrid(page, this.numbers.view(), width);
  }

  clear(): void {
    this.numbers.length = 0;
  }
}
