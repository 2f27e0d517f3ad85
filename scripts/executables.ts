/**
 * Builds single executables, which need no runtime: node scripts/executables.ts FOLDER [TARGET…]. Bun builds them, because it bundles,
 * includes the worker module and cross-compiles; BUN is the path of its binary. See docs/decisions/0015-distribution-of-the-program.md.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const TARGETS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"];
const root = join(import.meta.dirname, "..");
const [folder = "release", ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const target of wanted.length === 0 ? TARGETS : wanted) {
  const file = join(
    folder,
    `rules-compiler-${target}${target.startsWith("windows") ? ".exe" : ""}`,
  );
  const words = ["build", "--compile", "--minify", `--target=bun-${target}`];
  // The second entry is the worker module, which no other module imports.
  const entries = ["src/cli/bin.ts", "src/kernel/crew-thread.ts"].map((one) => join(root, one));
  const { status } = spawnSync(
    process.env["BUN"] ?? "bun",
    [...words, ...entries, "--outfile", file],
    {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  if (status !== 0) throw new Error(`no executable for ${target}`);
  process.stdout.write(`${file}\n`);
}
