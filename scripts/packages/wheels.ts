import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DESCRIPTION, HOMEPAGE, inFolder, programName, zip } from "./release.ts";
import type { Release } from "./release.ts";

/** The oldest systems that Bun's executables start on, as pip names them. */
const PLATFORMS: Record<string, string> = {
  "linux-x64": "manylinux_2_17_x86_64",
  "linux-arm64": "manylinux_2_17_aarch64",
  "darwin-x64": "macosx_13_0_x86_64",
  "darwin-arm64": "macosx_13_0_arm64",
  "windows-x64": "win_amd64",
};

/** One wheel per platform: the executable, and a Python module that starts it. */
export function writeWheels({ root, folder, version, executables }: Release): void {
  for (const [target, executable] of executables)
    inFolder((made) => {
      const tag = `py3-none-${PLATFORMS[target]}`;
      const info = join(made, `rules_compiler-${version}.dist-info`);
      cpSync(join(root, "packaging/python"), made, { recursive: true });
      mkdirSync(join(made, "rules_compiler/bin"));
      const program = join(made, "rules_compiler/bin", programName(target));
      copyFileSync(executable, program);
      chmodSync(program, 0o755);
      mkdirSync(join(info, "licenses"), { recursive: true });
      copyFileSync(join(root, "LICENSE"), join(info, "licenses/LICENSE"));
      writeFileSync(
        join(info, "METADATA"),
        metadata(version, readFileSync(join(root, "README.md"), "utf8")),
      );
      writeFileSync(
        join(info, "WHEEL"),
        `Wheel-Version: 1.0\nGenerator: rules-compiler\nRoot-Is-Purelib: false\nTag: ${tag}\n`,
      );
      writeFileSync(
        join(info, "entry_points.txt"),
        "[console_scripts]\nrules-compiler = rules_compiler.__main__:main\n",
      );
      writeFileSync(join(info, "RECORD"), record(made, info));
      zip(made, join(folder, `rules_compiler-${version}-${tag}.whl`));
    });
}

function metadata(version: string, readme: string): string {
  return [
    "Metadata-Version: 2.4",
    "Name: rules-compiler",
    `Version: ${version}`,
    `Summary: ${DESCRIPTION}`,
    `Project-URL: Homepage, ${HOMEPAGE}`,
    "License-Expression: MIT",
    "License-File: LICENSE",
    "Requires-Python: >=3.9",
    "Description-Content-Type: text/markdown",
    "",
    readme,
  ].join("\n");
}

/** The digest of every file, as pip checks it. */
function record(made: string, info: string): string {
  const files = readdirSync(made, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const rows = files.toSorted().map((file) => {
    const bytes = readFileSync(file);
    const digest = createHash("sha256").update(bytes).digest("base64url");
    return `${file.slice(made.length + 1)},sha256=${digest},${bytes.length}\n`;
  });
  return `${rows.join("")}${info.slice(made.length + 1)}/RECORD,,\n`;
}
