import { Buffer } from "node:buffer";
import { recordHeader } from "../../src/builder/draft/prepare.ts";
import { headerBytes } from "../../src/record/record-file.ts";
import { BuildRecord } from "../../src/record/build-record.ts";
import {
  type EngineOptions,
  type CompileResult,
  type Config,
  type Host,
  compile,
} from "./internals.ts";

export interface Recorded {
  readonly result: CompileResult;
  readonly record: BuildRecord;
}

/** Compiles with a record, and reads the record back from its bytes. */
export async function compileRecorded(
  config: Config,
  options: EngineOptions & { readonly host: Host },
): Promise<Recorded> {
  const pieces: Uint8Array[] = [];
  const result = await compile(config, {
    ...options,
    record: (bytes) => void pieces.push(bytes.slice()),
  });
  const header = headerBytes(recordHeader(config, result, 0));
  const record = BuildRecord.read(new Uint8Array(Buffer.concat([...pieces, header])));
  if (record === undefined) throw new Error("the record cannot be read");
  return { result, record };
}
