import type { MemoryProject } from "./memory-project.ts";

/** What depends on the time, in a list, a zone and a manifest. */
const DATED: readonly RegExp[] = [
  /(?<=Last modified: )[\d:.TZ-]+/g,
  /(?<=Diff-Path: )\S+/g,
  /(?<=^@ SOA \S+ \S+ )\d+/gm,
  /(?<="(?:version|built|expires|sha256)": )[^,\n]+/g,
];

/** The published files with these names, without what depends on the time. */
export function publishedFiles(
  project: MemoryProject,
  names: readonly string[],
): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of names) {
    if (!project.memory.files.has(`/project/${name}`)) continue;
    files[name] = DATED.reduce((text, part) => text.replace(part, "?"), project.text(name));
  }
  return files;
}

/** The names of all files in the rules folder, without hidden ones and patches. */
export function namesInRules(project: MemoryProject): string[] {
  return [...project.memory.files.keys()]
    .filter((path) => path.startsWith("/project/rules/"))
    .map((path) => path.slice("/project/".length))
    .filter((name) => !/\/(?:\.|patches\/)/.test(name))
    .toSorted();
}
