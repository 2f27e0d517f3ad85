/**
 * Builds all files of a release in a folder, and publishes nothing: node scripts/release.ts [FOLDER] [TARGET…].
 * RELEASING.md describes the next steps.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";

const root = join(import.meta.dirname, "..");
const [given = "release", ...targets] = process.argv.slice(2);
const folder = resolve(given);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
};

function run(program: string, ...words: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`${program} ${words[0]}: ${error?.message ?? stderr}`);
  return stdout;
}

/** The package as users install it: with `--omit dev`, npm would omit from the bill of materials whatever development needs too. */
function partsFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "parts-"));
  const text = readFileSync(join(root, "package.json"), "utf8");
  const {
    devDependencies: _tools,
    overrides: _for,
    ...own
  } = JSON.parse(text) as Record<string, unknown>;
  writeFileSync(join(made, "package.json"), JSON.stringify(own));
  copyFileSync(join(root, "package-lock.json"), join(made, "package-lock.json"));
  run(
    "npm",
    "install",
    "--prefix",
    made,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--silent",
  );
  return made;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run("npm", "pack", "--pack-destination", folder, "--silent");
const parts = partsFolder();
for (const [form, file] of [
  ["cyclonedx", "sbom.cdx.json"],
  ["spdx", "sbom.spdx.json"],
] as const)
  writeFileSync(join(folder, file), run("npm", "sbom", "--prefix", parts, "--sbom-format", form));
rmSync(parts, { recursive: true });

run(process.execPath, join(root, "scripts/executables.ts"), folder, ...targets);
for (const file of readdirSync(folder).filter((name) =>
  /^rules-compiler-[a-z]+-[a-z0-9]+$/.test(name),
)) {
  writeFileSync(join(folder, `${file}.gz`), gzipSync(readFileSync(join(folder, file))));
  rmSync(join(folder, file));
}

const digests = new Map(
  readdirSync(folder)
    .toSorted()
    .map((file) => [
      file,
      createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex"),
    ]),
);
writeFileSync(
  join(folder, "SHA256SUMS"),
  [...digests].map(([file, digest]) => `${digest}  ${file}\n`).join(""),
);
for (const file of ["rules-compiler.rb", "flake.nix"]) {
  const text = readFileSync(join(root, "packaging", file), "utf8")
    .replaceAll("@VERSION@", version)
    // Platforms that were not built must not be installable.
    .replaceAll(/@SHA256 ([^@]+)@/g, (_, name: string) => digests.get(name) ?? "0".repeat(64));
  writeFileSync(join(folder, file), text);
}
process.stdout.write(`${readdirSync(folder).toSorted().join("\n")}\n`);
