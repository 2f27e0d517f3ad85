import { ByteBuffer } from "../../src/bytes/byte-buffer.ts";
import { ArtifactWriter, type LossPolicy } from "../../src/formats/artifact-writer.ts";
import { ANY_ROOM, type Room } from "../../src/formats/file-room.ts";
import { ListModel } from "../../src/formats/list-model.ts";
import type { Loss } from "../../src/formats/losses.ts";
import { DEFAULT_OPTIONS, type FormatOptions } from "../../src/formats/name-format.ts";
import { NameSpool } from "../../src/formats/name-spool.ts";
import { nameFormats } from "../../src/formats/registry.ts";
import { memoryHost } from "./memory-host.ts";

export interface WrittenFormat {
  readonly block: string;
  readonly allow: string;
  readonly losses: readonly Loss[];
  readonly names: number;
  readonly writer: ArtifactWriter;
}

export interface WriteSettings {
  readonly policy?: LossPolicy;
  readonly isMinimal?: boolean;
  readonly protectedNames?: readonly string[];
  readonly room?: Room;
  readonly options?: Partial<FormatOptions>;
}

function text(buffer: ByteBuffer): string {
  return new TextDecoder().decode(buffer.view());
}

/** The lines of a list in a format, without a head. */
export function writeFormat(
  format: string,
  lines: readonly string[],
  { policy = "skip", isMinimal = false, protectedNames = [], room, options }: WriteSettings = {},
): WrittenFormat {
  const spool = new NameSpool(() => memoryHost({ files: {} }).openScratch(), false);
  spool.take(new TextEncoder().encode(lines.map((line) => `\n${line}`).join("")), 0);
  const files = { block: new ByteBuffer(), allow: new ByteBuffer() };
  const how = {
    format: nameFormats.get(format)!,
    options: { ...DEFAULT_OPTIONS, ...options },
    policy,
    protectedNames,
  };
  const writer = new ArtifactWriter(how, {
    block: (bytes) => void files.block.append(bytes, 0, bytes.length),
    allow: (bytes) => void files.allow.append(bytes, 0, bytes.length),
  });
  writer.write(
    new ListModel(spool, { isMinimal, hasSureCovers: true, protectedNames }),
    room ?? ANY_ROOM,
  );
  return {
    block: text(files.block),
    allow: text(files.allow),
    losses: writer.losses.all(),
    names: writer.names,
    writer,
  };
}
