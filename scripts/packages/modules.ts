import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_TIME, inFolder, run, zip } from "./release.ts";
import type { Release } from "./release.ts";

/** Packages that need no executable inside: the PowerShell module, the Helm chart and the crate. */
export function writeModules({ root, folder, version }: Release): void {
  const modules = [
    { from: "powershell", to: `RulesCompiler-PowerShell-${version}.zip` },
    { from: "helm", to: `rules-compiler-chart-${version}.tgz` },
    { from: "cargo", to: `rules-compiler-${version}.crate.tar.gz` },
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

/** Files of a checkout have the version 0.0.0, with which they are valid. */
function filled(text: string, version: string): string {
  return text.replaceAll(/(?<![.\d])0\.0\.0(?![.\d])/g, version);
}
