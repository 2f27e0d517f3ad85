import assert from "node:assert/strict";
import type { Host } from "./internals.ts";
import { MemoryProject } from "./memory-project.ts";

export const WORDS: readonly string[] = ["-c", "c.json"];
export const COMPILE: readonly string[] = ["compile", "--json", "--no-cache", ...WORDS];

export function config(more: object = {}): string {
  return JSON.stringify({
    name: "Home",
    version: "{date}.{count}",
    sources: [
      { name: "Ads", source: "ads.txt" },
      { name: "Hosts", source: "hosts.txt", type: "hosts" },
    ],
    transformations: ["RemoveComments", "Compress", "Validate", "InsertFinalNewLine"],
    guards: { max_shrink: 100, max_growth: 1_000_000, min_rules: 0 },
    manifest: {},
    patches: "7d",
    ...more,
  });
}

export const SPLIT: { readonly outputs: readonly object[] } = {
  outputs: [{ format: "rpz" }, { format: "hosts", split: { max_rules: 2 } }],
};
export const WHOLE: { readonly outputs: readonly object[] } = {
  outputs: [
    { format: "rpz", answer: "nodata" },
    { format: "hosts", sort: "name" },
    { format: "json" },
    { format: "dnscrypt" },
  ],
};

/** Moves the clock. */
export function later(project: MemoryProject, seconds: number): void {
  project.now = new Date(Date.parse(project.now) + seconds * 1000).toISOString();
}

/** A project with one build. */
export async function built(changes: Partial<Host> = {}): Promise<MemoryProject> {
  const files = {
    "c.json": config(SPLIT),
    "ads.txt": "||a.example^\n||b.example^\n",
    "hosts.txt": "0.0.0.0 a.a.example\n0.0.0.0 c.example\n",
  };
  const project = new MemoryProject(files, changes);
  const { exit, stderr } = await project.run(...COMPILE);
  assert.equal(exit, 0, stderr);
  later(project, 60);
  return project;
}

/** The same, and a second build that blocks less. */
export async function builtTwice(changes: Partial<Host> = {}): Promise<MemoryProject> {
  const project = await built(changes);
  project.write("ads.txt", "||x.example^\n");
  const { exit, stderr } = await project.run(...COMPILE);
  assert.equal(exit, 0, stderr);
  later(project, 60);
  return project;
}
