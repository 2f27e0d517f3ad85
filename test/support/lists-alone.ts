import type { TestContext } from "node:test";
import { USUAL_TRANSFORMATIONS } from "../../src/adopt/config-text.ts";
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
  const server = await serveLists([folder]);
  context.after(() => server.close());
  const project = new DiskProject(context);
  const failed: ListAlone[] = [];
  for (const [index, file] of files.entries()) {
    const source = `${server.base}/${encodeURIComponent(file)}`;
    const config = {
      name: `List ${index}`,
      sources: [{ name: file, source, allow_private: true }],
      transformations: USUAL_TRANSFORMATIONS.map(([name]) => name),
    };
    project.write("c.json", JSON.stringify(config));
    const { exit, stderr } = await project.run("-q", "-c", "c.json", "--no-cache", "--no-record");
    if (exit === 0) continue;
    const codes = new Set([...stderr.matchAll(/^error\[([a-z-]+)\]/gm)].map(([, code]) => code));
    failed.push({ file, exit, codes: [...codes].join(" ") });
  }
  return failed;
}
