import { readFileSync } from "node:fs";

/** The first page of the guides: the introduction of the README, with its links adapted. */
export function startPage(): string {
  const readme = readFileSync("README.md", "utf8");
  const start = readme.indexOf("## Five minutes");
  const end = readme.indexOf("## What one bad line does");
  const text = readme
    .slice(start, end)
    .replace("## Five minutes", "# Five minutes")
    .replaceAll(/^### /gm, "## ")
    .replaceAll("](docs/guide/", "](")
    .replaceAll("](docs/", "](../");
  return `<!-- Made from README.md by scripts/generate.ts. -->\n\n${text.trimEnd()}\n`;
}
