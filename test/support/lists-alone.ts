import type { TestContext } from "node:test";
import { RECOMMENDED } from "../../src/config/fields.ts";
import { DiskProject } from "./disk-project.ts";
import { serveLists } from "./list-server.ts";

/** What became of a list that was compiled by itself. */
export interface ListAlone {
  readonly file: string;
  readonly exit: number;
  /** Codes of the errors. */
  readonly codes: string;
}

/** Compiles each of some files by itself, fetched from a server, with what `init` writes and nothing else. Returns those that failed. */
export async function failuresAlone(
  context: TestContext,
  folder: string,
  files: readonly string[],
): Promise<ListAlone[]> {
  const compile = await compilerOf(context, folder);
  const failed: ListAlone[] = [];
  for (const file of files) {
    const { exit, codes } = await compile([file]);
    if (exit !== 0) failed.push({ file, exit, codes });
  }
  return failed;
}

/** Compiles files of a folder into one list, in the same way. */
export async function compilerOf(
  context: TestContext,
  folder: string,
): Promise<(files: readonly string[]) => Promise<Omit<ListAlone, "file">>> {
  const server = await serveLists([folder]);
  context.after(() => server.close());
  const project = new DiskProject(context);
  let count = 0;
  return async (files) => {
    const config = {
      // Each list is a first publish.
      name: `List ${count++}`,
      sources: files.map((name) => ({
        name,
        source: `${server.base}/${encodeURIComponent(name)}`,
        allow_private: true,
      })),
      transformations: RECOMMENDED,
    };
    project.write("c.json", JSON.stringify(config));
    const { exit, stderr } = await project.run("-q", "-c", "c.json", "--no-cache", "--no-record");
    const codes = new Set([...stderr.matchAll(/^error\[([a-z-]+)\]/gm)].map(([, code]) => code));
    return { exit, codes: [...codes].join(" ") };
  };
}
