/**
 * Builds all files of a release in a folder, and publishes nothing: node scripts/release.ts [--dry-run] [FOLDER] [TARGET…].
 * With `--dry-run`, old figures are a warning.
 * RELEASING.md describes the next steps.
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
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
import { oldFigures } from "./figure-age.ts";
import { writeArchives } from "./packages/archives.ts";
import { writeLinuxPackages } from "./packages/linux-packages.ts";
import { writeModules } from "./packages/modules.ts";
import { writeNugetPackages } from "./packages/nuget-packages.ts";
import { run } from "./packages/release.ts";
import { writeVectors } from "./packages/vectors.ts";
import { writeWheels } from "./packages/wheels.ts";

const root = join(import.meta.dirname, "..");
const isDryRun = process.argv.includes("--dry-run");
const [given = "release", ...targets] = process.argv
  .slice(2)
  .filter((word) => word !== "--dry-run");
const folder = resolve(given);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
};

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
  run("npm", [
    "install",
    "--prefix",
    made,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--silent",
  ]);
  return made;
}

const old = oldFigures(root);
if (old.length > 0) {
  process.stderr.write(
    `${isDryRun ? "warning" : "error"}: figures are too old for a release; run: npm run bench:all && npm run generate\n${old.map((line) => `  ${line}\n`).join("")}`,
  );
  if (!isDryRun) process.exit(1);
}
if (!existsSync(join(root, "dist/cli/bin.js"))) {
  process.stderr.write(
    "error: there is no dist, so the package would have no program; run: npm run build\n",
  );
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run("npm", ["pack", "--pack-destination", folder, "--silent"], root);
const parts = partsFolder();
for (const [form, file] of [
  ["cyclonedx", "sbom.cdx.json"],
  ["spdx", "sbom.spdx.json"],
] as const)
  writeFileSync(join(folder, file), run("npm", ["sbom", "--prefix", parts, "--sbom-format", form]));
rmSync(parts, { recursive: true });

const programs = mkdtempSync(join(tmpdir(), "executables-"));
run(process.execPath, [join(root, "scripts/executables.ts"), programs, ...targets]);
const executables = new Map(
  readdirSync(programs).map((file) => [
    /^rules-compiler-([a-z]+-[a-z0-9]+)/.exec(file)![1]!,
    join(programs, file),
  ]),
);
const release = { root, folder, version, executables };
writeArchives(release);
writeWheels(release);
writeNugetPackages(release);
writeLinuxPackages(release);
writeModules(release);
writeVectors(release);
rmSync(programs, { recursive: true });

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
process.stdout.write(`${readdirSync(folder).toSorted().join("\n")}\n`);
