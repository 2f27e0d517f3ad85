import { MemoryProject } from "./memory-project.ts";

export const USUAL: readonly string[] = [
  "RemoveComments",
  "Compress",
  "Validate",
  "Deduplicate",
  "InsertFinalNewLine",
];

export interface Listed {
  readonly name: string;
  readonly sources?: readonly string[];
  readonly [field: string]: unknown;
}

/** A project whose configuration makes several lists of the same sources. */
export function projectOf(
  texts: Readonly<Record<string, string>>,
  lists: readonly Listed[],
  more: object = {},
): MemoryProject {
  const sources = Object.keys(texts).map((name) => ({
    name,
    source: `${name}.txt`,
    type: "adblock",
  }));
  const config = { name: "All", sources, transformations: USUAL, lists, ...more };
  const files = Object.entries(texts).map(([name, text]) => [`${name}.txt`, text] as const);
  return new MemoryProject({
    "compiler-config.json": JSON.stringify(config),
    ...Object.fromEntries(files),
  });
}
