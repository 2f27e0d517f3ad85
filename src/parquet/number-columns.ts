import type { SchemaElement } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { deltaBinaryPack } from "hyparquet-writer/src/delta.js";
import type { PagePacker } from "../kernel/page-packer.ts";
import { type Column, Numbers, Presence } from "./column.ts";

/** Numbers of 31 bits, as differences: consecutive ones cost nothing. */
export class NumberColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "DELTA_BINARY_PACKED";
  readonly presence: Presence = new Presence();
  private readonly numbers = new Numbers();

  constructor(name: string) {
    this.element = { name, type: "INT32", repetition_type: "OPTIONAL" };
  }

  get length(): number {
    return this.presence.length;
  }

  add(value: number | undefined): void {
    this.presence.add(value !== undefined);
    if (value !== undefined) this.numbers.push(value);
  }

  addSame(value: number, count: number): void {
    this.presence.add(true, count);
    this.numbers.addSame(value, count);
  }

  addAscending(first: number, count: number): void {
    this.presence.add(true, count);
    this.numbers.addAscending(first, count);
  }

  addNulls(count: number): void {
    this.presence.add(false, count);
  }

  /** Negative numbers are rows without a value. */
  addAll(values: Int32Array): void {
    const { presence, numbers } = this;
    let run = 0;
    for (let row = 0; row <= values.length; row++) {
      if (row < values.length && values[row]! < 0 === values[run]! < 0) continue;
      if (row === run) continue;
      presence.add(values[run]! >= 0, row - run);
      if (values[run]! >= 0)
        for (let index = run; index < row; index++) numbers.push(values[index]!);
      run = row;
    }
  }

  pack(packer: PagePacker): Uint8Array {
    return packer.numbers(this.numbers.view());
  }

  clear(): void {
    this.numbers.length = 0;
    this.presence.clear();
  }
}

/** Moments in milliseconds since 1970. */
export class TimeColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "DELTA_BINARY_PACKED";
  readonly presence: Presence = new Presence();
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

  get length(): number {
    return this.presence.length;
  }

  add(milliseconds: number | undefined): void {
    this.presence.add(milliseconds !== undefined);
    if (milliseconds !== undefined) this.values.push(BigInt(milliseconds));
  }

  addNulls(count: number): void {
    this.presence.add(false, count);
  }

  pack(): Uint8Array {
    const page = new ByteWriter();
    deltaBinaryPack(page, this.values);
    return page.getBytes();
  }

  clear(): void {
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

  pack(packer: PagePacker): Uint8Array {
    const runs = packer.runs(this.numbers.view(), 1);
    const page = new ByteWriter();
    page.appendUint32(runs.length);
    page.appendBytes(runs);
    return page.getBytes();
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
  add(choice: number, count = 1): void {
    this.numbers.addSame(choice, count);
  }

  addAll(choices: Uint8Array): void {
    this.numbers.addAll(choices);
  }

  pack(packer: PagePacker): Uint8Array {
    const width = Math.max(1, 32 - Math.clz32(this.dictionary.length - 1));
    const page = new ByteWriter();
    page.appendUint8(width);
    page.appendBytes(packer.runs(this.numbers.view(), width));
    return page.getBytes();
  }

  clear(): void {
    this.numbers.length = 0;
  }
}
