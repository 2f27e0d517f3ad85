import { copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_TIME, inFolder, run } from "./release.ts";
import type { Release } from "./release.ts";

/** The files of the archive, by where they are in the repository. */
const FILES = {
  "test/conformance/README.md": "README.md",
  "test/conformance/vector.schema.json": "vector.schema.json",
  "test/conformance/own-outcomes.json": "outcomes.json",
  "test/conformance/deviations.json": "deviations.json",
  LICENSE: "LICENSE",
} as const;

/** `rules-compiler-vectors-VERSION.tar.gz`: the conformance vectors, for other implementations. Returns its path. */
export function writeVectors({ root, folder, version }: Omit<Release, "executables">): string {
  const name = `rules-compiler-vectors-${version}`;
  const file = join(folder, `${name}.tar.gz`);
  inFolder((made) => {
    cpSync(join(root, "test/conformance/vectors"), join(made, name, "vectors"), {
      recursive: true,
    });
    for (const [from, to] of Object.entries(FILES))
      copyFileSync(join(root, from), join(made, name, to));
    run(
      "tar",
      [
        "--create",
        "--format=ustar",
        `--mtime=${PACKAGE_TIME}`,
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=u=rwX,go=rX",
        "--sort=name",
        "--use-compress-program=gzip -n",
        `--file=${file}`,
        name,
      ],
      made,
    );
  });
  return file;
}
