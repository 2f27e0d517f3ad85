/** newcomer-steps.ts PAGE FOLDER: writes the files that the page shows, and its commands as scripts, by how it is installed. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { blocksOf } from "../markdown.ts";

const [page, folder] = process.argv.slice(2) as [string, string];
for (const way of ["package", "executable", "image"])
  mkdirSync(join(folder, way), { recursive: true });
const scripts: Record<string, string[]> = { package: [], executable: [], image: [] };
for (const { language, title, text } of blocksOf(readFileSync(page, "utf8"))) {
  if (language === "sh") scripts[title ?? "package"]!.push(text);
  else if (title !== undefined && title !== "output")
    for (const way of Object.keys(scripts)) writeFileSync(join(folder, way, title), text);
}
// What is published is stood in for by what was built here; everything else is as it is written.
const stands: Record<string, (script: string) => string> = {
  package: (script) =>
    script.replace("npm install rules-compiler", "npm install /newcomer/rules-compiler.tgz"),
  executable: (script) => script.replace(/^curl -fsSLO \S+\/(\S+)$/m, "cp /newcomer/$1 ."),
  image: (script) =>
    script
      .replace("docker run", "podman run --network host")
      .replace("ghcr.io/rules-compiler/rules-compiler", "localhost/rules-compiler:test"),
};
for (const [way, lines] of Object.entries(scripts))
  writeFileSync(
    join(folder, way, "steps.sh"),
    `set -e\ncd "$(dirname "$0")"\n${stands[way]!(lines.join("\n"))}`,
  );
