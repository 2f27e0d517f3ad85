import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import type { NewFile } from "../../src/host/host.ts";
import type { Host } from "./internals.ts";
import { minisignKeys } from "./minisign-keys.ts";
import { MemoryProject } from "./memory-project.ts";

type Files = ReadonlyMap<string, Uint8Array>;

const keys = minisignKeys();

/** The settings of a release with every kind of file. */
export const RELEASE: Record<string, unknown> & { readonly outputs: readonly object[] } = {
  name: "L",
  sources: [{ source: "a.txt" }],
  patches: "7d",
  manifest: { key_file: "s.key" },
  outputs: [
    { format: "hosts", pack: ["gzip"] },
    { format: "dnsmasq", split: { max_rules: 2 } },
    { format: "rpz", updates: "127.0.0.1" },
    { format: "domains" },
  ],
};

/** The lines of a build, which has the name in every part of every file. */
export function linesOf(build: string, names: number): string {
  return Array.from({ length: names }, (_, index) => `||n${index}.${build}.example^\n`).join("");
}

export function releaseProject(changes: Partial<Host> = {}): MemoryProject {
  return new MemoryProject(
    {
      "c.json": JSON.stringify(RELEASE),
      "s.key": keys.secret,
      "a.txt": linesOf("one", 9),
    },
    changes,
  );
}

/** A project with the files of a killed run. */
export function projectWith(files: Files, config: unknown = RELEASE): MemoryProject {
  const project = new MemoryProject({});
  for (const [path, bytes] of files) project.memory.files.set(path, bytes);
  project.write("c.json", JSON.stringify(config));
  project.now = "2026-11-12T00:00:00Z";
  return project;
}

/** The files of all moments at which a run may be killed while it publishes the second build: before each call that changes something. */
export async function killedMoments(): Promise<Files[]> {
  const moments: Files[] = [];
  let isWatched = false;
  const watch = (): void => {
    if (isWatched) moments.push(new Map(made.memory.files));
  };
  const watched =
    <K extends "rename" | "link" | "removeFile" | "syncFolder" | "appendFile">(name: K) =>
    async (...values: Parameters<Host[K]>): Promise<void> => {
      watch();
      await (made.memory[name] as (...all: unknown[]) => Promise<void>)(...values);
    };
  const changes: Partial<Host> = {
    rename: watched("rename"),
    link: watched("link"),
    removeFile: watched("removeFile"),
    syncFolder: watched("syncFolder"),
    appendFile: watched("appendFile"),
    createFile: (path, like) => {
      watch();
      const file: NewFile = made.memory.createFile(path, like);
      return {
        ...file,
        finish: async () => {
          watch();
          await file.finish();
        },
      };
    },
  };
  const made = releaseProject(changes);
  assert.equal((await made.run("-q", "-c", "c.json", "--no-cache")).exit, 0);
  made.write("a.txt", linesOf("two", 5));
  made.now = "2026-11-11T00:00:00Z";
  isWatched = true;
  const { exit, stderr } = await made.run("-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  watch();
  return moments;
}

/** The build of every file that is published, by its path below the rules directory. */
export function buildsIn(files: Files): Map<string, string> {
  const builds = new Map<string, string>();
  for (const [path, bytes] of files) {
    const name = path.replace("/project/rules/", "");
    if (name === path || name.startsWith(".") || /^manifest|^patches\/|nsupdate$/.test(name))
      continue;
    const text = new TextDecoder().decode(name.endsWith(".gz") ? gunzipSync(bytes) : bytes);
    const found = ["one", "two"].filter((build) => text.includes(`.${build}.example`));
    builds.set(name, found.join(" and "));
  }
  return builds;
}

export const publicKey: string = keys.publicKey;
export const secretKey: string = keys.secret;
