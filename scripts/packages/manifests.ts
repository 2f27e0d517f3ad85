import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { PACKAGE_TIME, inFolder, run, zip } from "./release.ts";
import type { Release } from "./release.ts";

/** Files of `packaging/` that name the version and digests of a release. */
const MANIFESTS = [
  "rules-compiler.rb",
  "flake.nix",
  "scoop/rules-compiler.json",
  ...["", ".installer", ".locale.en-US"].map(
    (part) => `winget/RulesCompiler.RulesCompiler${part}.yaml`,
  ),
];

/** Manifests of package managers that download the archives of the release. */
export function writeManifests(
  { root, folder, version }: Release,
  digests: ReadonlyMap<string, string>,
): void {
  for (const file of MANIFESTS)
    writeFileSync(
      join(folder, basename(file)),
      filled(readFileSync(join(root, "packaging", file), "utf8"), version)
        // Platforms that were not built must not be installable.
        .replaceAll(/@SHA256 ([^@]+)@/g, (_, name: string) => digests.get(name) ?? "0".repeat(64)),
    );
}

/** Packages that need no executable inside: the PowerShell module, the Helm chart, the crate and the add-on. */
export function writeModules({ root, folder, version }: Release): void {
  const modules = [
    { from: "powershell", to: `RulesCompiler-PowerShell-${version}.zip` },
    { from: "helm", to: `rules-compiler-chart-${version}.tgz` },
    { from: "cargo", to: `rules-compiler-${version}.crate.tar.gz` },
    { from: "home-assistant", to: `rules-compiler-home-assistant-${version}.tgz` },
  ];
  for (const { from, to } of modules)
    inFolder((made) => {
      copyFilled(join(root, "packaging", from), made, version);
      if (to.endsWith(".zip")) zip(made, join(folder, to));
      else
        run("tar", [
          "--create",
          `--mtime=${PACKAGE_TIME}`,
          "--owner=0",
          "--group=0",
          "--sort=name",
          "--use-compress-program=gzip -n",
          `--directory=${made}`,
          `--file=${join(folder, to)}`,
          ...readdirSync(made).toSorted(),
        ]);
    });
}

function copyFilled(from: string, to: string, version: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      mkdirSync(target);
      copyFilled(source, target, version);
    } else {
      copyFileSync(source, target);
      writeFileSync(target, filled(readFileSync(source, "utf8"), version));
    }
  }
}

function filled(text: string, version: string): string {
  return text.replaceAll("@VERSION@", version);
}
