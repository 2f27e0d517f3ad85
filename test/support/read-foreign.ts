import assert from "node:assert/strict";
import type { FateName } from "../../src/rules/fate.ts";
import { MemoryProject } from "./memory-project.ts";
import { listIn } from "./documents.ts";

interface Read {
  readonly rules: readonly string[];
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
  readonly lines: number;
}

/** The rules of a file of another format, and what became of its other lines. */
export async function readForeign(type: string, text: string): Promise<Read> {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type }],
      transformations: ["RemoveComments"],
    }),
    "a.txt": text,
  });
  const words = ["-c", "c.json", "--json", "--no-cache", "--accept", "too-few-rules"];
  const { exit, stdout, stderr } = await project.run(...words);
  assert.equal(exit, 0, stderr);
  const { sources } = listIn(stdout) as { sources: Pick<Read, "dropped" | "lines">[] };
  const rules = project
    .text("rules/l.txt")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("!"));
  return { rules, dropped: sources[0]!.dropped, lines: sources[0]!.lines };
}
