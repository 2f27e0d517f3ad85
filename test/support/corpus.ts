import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Real lists lie beside the project, not in it; tests that need them say so loudly where they are absent. */
const CORPUS = process.env["CORPUS"] ?? join(import.meta.dirname, "../../../shared/corpus");

export const missingCorpus: string | false =
  !existsSync(join(CORPUS, "typical.tar.zst")) && `NO CORPUS: real lists are expected in ${CORPUS}`;

/** `history-events` are the versions before and after the largest changes of real lists, `history` all versions of some lists. */
type CorpusSet = "typical" | "power" | "history" | "history-events";

/** Folder with the unpacked lists of a set, unpacked once a machine. Needs `zstd` and `tar`. */
export function corpusFolder(set: CorpusSet): string {
  const folder = join(tmpdir(), `rules-compiler-corpus-${set}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  shell(`zstd -d --long=27 -c '${join(CORPUS, `${set}.tar.zst`)}' | tar -xf - -C '${partial}'`);
  try {
    renameSync(partial, folder);
  } catch {
    // Another process was first.
    rmSync(partial, { recursive: true });
  }
  return folder;
}

/** One list of a set, without unpacking the others. */
export function corpusFile(set: CorpusSet, file: string): string {
  return shell(`zstd -d --long=27 -c '${join(CORPUS, `${set}.tar.zst`)}' | tar -xOf - '${file}'`);
}

export function corpusConfig(): {
  name: string;
  sources: { name: string; source: string; type: "hosts" | "adblock" }[];
  transformations: string[];
} {
  return JSON.parse(readFileSync(join(CORPUS, "typical.json"), "utf8")) as ReturnType<
    typeof corpusConfig
  >;
}

/** The same with its lists where they are unpacked. */
export function corpusConfigInPlace(): ReturnType<typeof corpusConfig> {
  const config = corpusConfig();
  const sources = config.sources.map((one) => ({
    ...one,
    source: join(corpusFolder("typical"), one.source),
  }));
  return { ...config, sources };
}

/** A list of the corpus. */
export interface CorpusEntry {
  readonly file: string;
  /** Its repository and the path in it: `owner/name/path`. */
  readonly address: string;
  readonly lines: number;
  readonly syntax: string;
}

export function corpusEntries(): CorpusEntry[] {
  const rows = readFileSync(join(CORPUS, "MANIFEST.tsv"), "utf8").trim().split("\n").slice(1);
  return rows.map((row) => {
    const [file, repository, path, , , lines, , syntax] = row.split("\t");
    const address = `${repository!}/${path!}`;
    return { file: file!, address, lines: Number(lines), syntax: syntax! };
  });
}

/** What the reference made of the typical set, without its header. */
export function referenceResult(): string {
  return shell(`zstd -dc '${join(CORPUS, "reference-typical.txt.zst")}'`);
}

function shell(command: string): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout;
}

/** The versions of one list of the history, oldest first, unpacked into a folder. */
export function unpackedHistory(list: string, folder: string): string[] {
  const archive = join(CORPUS, "history.tar.zst");
  shell(`zstd -d --long=27 -c '${archive}' | tar -xf - -C '${folder}' 'history/${list}'`);
  const unpacked = join(folder, "history", list);
  return readdirSync(unpacked)
    .toSorted()
    .map((file) => join(unpacked, file));
}
