import type { Loss } from "../../src/documents/facts.ts";
import { ByteBuffer } from "../../src/bytes/text.ts";
import { FormatWriter, type LossPolicy } from "../../src/formats/format-writer.ts";
import { NO_LIMIT, type SizeLimit } from "../../src/formats/fit-rules.ts";
import { NameExpander } from "../../src/kernel/names.ts";
import { ListModel } from "../../src/formats/list-model.ts";
import { DEFAULT_OPTIONS, type FormatOptions } from "../../src/formats/name-format.ts";
import { NameBuffer } from "../../src/formats/names.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { memoryHost } from "./internals.ts";

export interface WrittenFormat {
  readonly block: string;
  readonly allow: string;
  readonly losses: readonly Loss[];
  readonly names: number;
  readonly writer: FormatWriter;
}

export interface WriteSettings {
  readonly policy?: LossPolicy;
  readonly isMinimal?: boolean;
  readonly protectedNames?: readonly string[];
  readonly room?: SizeLimit;
  readonly options?: Partial<FormatOptions>;
}

function text(buffer: ByteBuffer): string {
  return new TextDecoder().decode(buffer.view());
}

const EXPANDER = new NameExpander();

/** The lines of a list in a format, without a header. */
export function writeFormat(
  format: string,
  lines: readonly string[],
  { policy = "skip", isMinimal = false, protectedNames = [], room, options }: WriteSettings = {},
): WrittenFormat {
  const names = new NameBuffer(() => memoryHost({ files: {} }).openScratch(), false);
  names.take(new TextEncoder().encode(lines.map((line) => `\n${line}`).join("")), 0);
  const files = { block: new ByteBuffer(), allow: new ByteBuffer() };
  const how = {
    format: nameFormats.get(format)!,
    options: { ...DEFAULT_OPTIONS, ...options },
    policy,
    protectedNames,
  };
  const writer = new FormatWriter(
    how,
    {
      beginExact: () => {
        const opening = new TextEncoder().encode(`${how.format.exactOpening}\n`);
        for (const file of [files.block, files.allow]) file.append(opening, 0, opening.length);
      },
      block: (bytes) => void files.block.append(bytes, 0, bytes.length),
      allow: (bytes) => void files.allow.append(bytes, 0, bytes.length),
    },
    EXPANDER,
  );
  writer.write(
    new ListModel(names, { isMinimal, hasSureCovers: true, protectedNames }),
    room ?? NO_LIMIT,
  );
  return {
    block: text(files.block),
    allow: text(files.allow),
    losses: writer.losses.all(),
    names: writer.names,
    writer,
  };
}
