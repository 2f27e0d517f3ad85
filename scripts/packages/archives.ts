import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_TIME, inFolder, programName, run, zip } from "./release.ts";
import type { Release } from "./release.ts";

/** `rules-compiler-TARGET.tar.gz`, or `.zip` for Windows: the program, its manual page and its licence. */
export function writeArchives({ root, folder, executables }: Release): void {
  for (const [target, executable] of executables)
    inFolder((made) => {
      copyFileSync(executable, join(made, programName(target)));
      copyFileSync(join(root, "LICENSE"), join(made, "LICENSE"));
      copyFileSync(join(root, "docs/rules-compiler.1"), join(made, "rules-compiler.1"));
      const file = join(folder, `rules-compiler-${target}`);
      if (target.startsWith("windows")) zip(made, `${file}.zip`);
      else
        run(
          "tar",
          [
            "--create",
            `--mtime=${PACKAGE_TIME}`,
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--sort=name",
            "--use-compress-program=gzip -n",
            `--file=${file}.tar.gz`,
            programName(target),
            "LICENSE",
            "rules-compiler.1",
          ],
          made,
        );
    });
}
