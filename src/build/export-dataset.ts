import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { DatasetLines, type TakeRows } from "../explain/dataset-lines.ts";
import type { Host, NewFile, Packing } from "../host/host.ts";
import { packerOf, taken } from "../host/node-pack-file.ts";
import { sendToOutput } from "../host/send-to-output.ts";
import { writeWhole } from "../host/write-whole.ts";
import { outputFailed } from "../publish/output-failed.ts";
import type { BuildOptions } from "./build-options.ts";
import { openLastBuild } from "./state/published-build.ts";

/** What was exported. */
export interface Dataset {
  readonly rows: number;
  readonly bytes: number;
  /** Files of sources whose lines have no text, because they have changed or are not cached. */
  readonly unseen: readonly string[];
}

/** Endings of files, and how they are packed. */
const PACKINGS: readonly (readonly [string, Packing | undefined])[] = [
  [".csv", undefined],
  [".csv.zst", "zstd"],
  [".csv.gz", "gzip"],
];

/** Writes the lines of the last builds of lists as CSV to a file, or to standard output. Rejects with a `CompilerError`. */
export async function exportDataset(
  lists: readonly string[],
  file: string | undefined,
  options: BuildOptions & { readonly cacheDir: string | undefined },
  host: Host,
): Promise<Dataset> {
  const [, packing] = PACKINGS.find(([ending]) => file?.endsWith(ending)) ?? [];
  if (file !== undefined && !PACKINGS.some(([ending]) => file.endsWith(ending)))
    throw new CompilerError([
      errorOf("unknown-flag", `export writes CSV, not ${printable(file)}`, {
        hint: "Name a file that ends in .csv, .csv.zst or .csv.gz",
      }),
    ]);
  const builds: Omit<Awaited<ReturnType<typeof openLastBuild>>, "file">[] = [];
  for (const list of lists) {
    const { file: opened, ...build } = await openLastBuild(list, options, host);
    await opened.close();
    builds.push({ ...build, name: list === "" ? build.record.header.name : list });
  }
  let bytes = 0;
  const writeTo = async (take: TakeRows): Promise<Dataset> => {
    const lines = new DatasetLines(options.cacheDir, host, take);
    const rows = await lines.write(builds);
    return { rows, bytes, unseen: lines.unseen.map((one) => one.file) };
  };
  if (file === undefined) return await writeTo((rows) => sendToOutput(rows, host));
  const failed = (error: unknown): never => {
    throw outputFailed(`Cannot write ${printable(file)}`, error);
  };
  const path = host.path.resolve(host.cwd, file);
  return await writeWhole(path, host, async (to) => {
    const counted = {
      write: (part: Uint8Array): void => {
        bytes += part.length;
        to.write(part);
      },
    };
    const { take, end } = packing === undefined ? plain(counted) : packed(packing, counted, file);
    const dataset = await writeTo((rows) => take(rows).catch(failed));
    await end();
    return { ...dataset, bytes };
  }).catch(failed);
}

interface Sink {
  readonly take: TakeRows;
  readonly end: () => Promise<void>;
}

type Out = Pick<NewFile, "write">;

function plain(to: Out): Sink {
  return {
    take: async (rows) => {
      to.write(rows);
      return true;
    },
    end: async () => {},
  };
}

function packed(packing: Packing, to: Out, file: string): Sink {
  const packer = packerOf(packing);
  if (packer === undefined)
    throw new CompilerError([
      errorOf("output-failed", `Cannot write ${printable(file)}`, {
        cause: `this runtime has no ${packing}`,
        hint: "Name a file that ends in .csv.gz",
      }),
    ]);
  const written = (async (): Promise<void> => {
    for await (const part of packer) to.write(part as Uint8Array);
  })();
  // A failed write ends the wait, too: the packer then takes nothing more.
  written.catch(() => {});
  return {
    take: async (rows) => {
      await Promise.race([taken(packer, rows), written]);
      return true;
    },
    end: async () => {
      packer.end();
      await written;
    },
  };
}
