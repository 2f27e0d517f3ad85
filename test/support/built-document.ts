import type { BuildDocument } from "../../src/documents/documents.ts";

/** What a child of `serve` prints after a build of one small list. */
export const BUILT: BuildDocument = {
  lists: [
    {
      list: "n",
      status: "published",
      exit: 0,
      lines: 1,
      kept: 1,
      rules: 1,
      bytes: 13,
      degraded: false,
      outputs: [{ file: "rules/n.txt", outcome: "written" }],
      sources: [],
      seconds: 1,
      files: [],
      violations: [],
      diagnostics: [],
    },
  ],
};
