/** newcomer-steps.ts DOCS FOLDER: writes the files of the five minutes, and their commands as scripts, by how the program is installed. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { blocksOf } from "../markdown.ts";

const [docs, folder] = process.argv.slice(2) as [string, string];
const pageOf = (name: string) => blocksOf(readFileSync(join(docs, "guide", name), "utf8"));
const start = pageOf("start.md");
const steps = start.filter(({ language }) => language === "sh").map(({ text }) => text);
// What is published is stood in for by what was built here; everything else is as it is written.
const stands: Record<string, (script: string) => string> = {
  package: (script) =>
    [script.replace(" rules-compiler", " --silent /newcomer/rules-compiler.tgz"), ...steps].join(
      "\n",
    ),
  executable: (script) =>
    [
      script.replace(/^curl -fsSLO \S+\/(\S+)$/m, "cp /newcomer/$1 ."),
      'PATH="$PWD:$PATH"',
      ...steps,
    ].join("\n"),
  // The image compiles what the package imported.
  image: (script) =>
    script
      .replace("docker run", "podman run --network host")
      .replace("ghcr.io/rules-compiler/rules-compiler", "localhost/rules-compiler:test"),
};
for (const { language, title, text } of pageOf("install.md")) {
  const stand = stands[title ?? ""];
  if (language !== "sh" || stand === undefined) continue;
  const place = join(folder, title!);
  mkdirSync(place, { recursive: true });
  for (const file of start)
    if (file.title !== undefined && file.title !== "output")
      writeFileSync(join(place, file.title), file.text);
  writeFileSync(join(place, "steps.sh"), `set -e\ncd "$(dirname "$0")"\n${stand(text)}`);
}
