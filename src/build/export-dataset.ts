import { printable } from "../diagnostics/printable.ts";
import { DatasetLines } from "../explain/dataset-lines.ts";
import { DatasetNames } from "../explain/dataset-names.ts";
import type { Host, NewFile } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { outputFailed } from "../publish/output-failed.ts";
import type { BuildOptions } from "./build-options.ts";
import { openRanks } from "./name-ranks.ts";
import { openLastBuild } from "./state/published-build.ts";

/** A file of a dataset. */
export interface DatasetFile {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
}

/** What was exported. */
export interface Dataset {
  readonly lines: DatasetFile;
  readonly names: DatasetFile;
  /** Files of sources whose lines have no text, because they have changed or are not cached. */
  readonly unseen: readonly string[];
}

/** Writes the last builds of lists as Parquet files into a folder. Rejects with a `CompilerError`. */
export async function exportDataset(
  lists: readonly string[],
  folder: string,
  options: BuildOptions & { readonly cacheDir: string | undefined },
  host: Host,
): Promise<Dataset> {
  const builds: Omit<Awaited<ReturnType<typeof openLastBuild>>, "file">[] = [];
  for (const list of lists) {
    const { file, ...build } = await openLastBuild(list, options, host);
    await file.close();
    builds.push({ ...build, name: list === "" ? build.record.header.name : list });
  }
  const lines = new DatasetLines(options.cacheDir, host);
  const names = new DatasetNames(options.cacheDir, host, await openRanks(options, host));
  return {
    lines: await writeTable("lines", folder, host, (out) => lines.write(builds, out)),
    names: await writeTable("names", folder, host, (out) => names.write(builds, out)),
    unseen: lines.unseen.map(({ file }) => file),
  };
}

async function writeTable(
  name: string,
  folder: string,
  host: Host,
  write: (out: NewFile["write"]) => Promise<number>,
): Promise<DatasetFile> {
  const file = host.path.join(folder, `${name}.parquet`);
  let bytes = 0;
  try {
    const rows = await writeWhole(host.path.resolve(host.cwd, file), host, (to) =>
      write((part) => {
        to.write(part);
        bytes += part.length;
      }),
    );
    return { file, rows, bytes };
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(file)}`, error);
  }
}
