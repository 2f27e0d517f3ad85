/** Compiles a list again and again in one process, and prints its memory in megabytes after each quarter. */
import process from "node:process";
import { compile } from "../../src/index.ts";

const COUNT = Number(process.argv[2]);
const lines = Array.from({ length: 20_000 }, (_, index) => `||n${index}.example${index % 50}.com^`);
const files = { "a.txt": lines.join("\n") };
const config = {
  name: "Many",
  sources: [{ source: "a.txt" }],
  transformations: ["Compress", "Validate", "Deduplicate"],
};
const sizes: { used: number; rss: number }[] = [];
for (let done = 1; done <= COUNT; done++) {
  const result = await compile(config, { files });
  for (const { fate } of result.lines()) if (fate !== "kept") break;
  result.close();
  if (done % (COUNT / 4) !== 0) continue;
  globalThis.gc!();
  await new Promise((turned) => setTimeout(turned, 50));
  globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  sizes.push({ used: (heapUsed + external) / 1024 / 1024, rss: rss / 1024 / 1024 });
}
process.stdout.write(JSON.stringify(sizes));
