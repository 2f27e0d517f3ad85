/** Keeps what the last runs of the long tests reported, with commit and date, for docs/guide/evidence.md. A file that did not run keeps its figures. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { Figure } from "./figures-reporter.ts";
import { type KeptFigures, KEPT } from "./reliability.ts";

const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

const commit = execFileSync("git", ["rev-parse", "--short=10", "HEAD"], {
  encoding: "utf8",
}).trim();
const date = new Date().toISOString().slice(0, 10);
const size = process.env["NIGHTLY"] === "1" ? "full" : "gate";
const figures = ["long", "alone", "nightly"]
  .map((name) => `test/artifacts/figures-${name}.json`)
  .filter((path) => existsSync(path))
  .flatMap((path) => read(path) as Figure[]);
const kept = read(KEPT) as Record<string, KeptFigures>;
for (const [file, said] of Map.groupBy(figures, (figure) => figure.file))
  kept[file] = { commit, date, size, said: said.map((figure) => figure.said) };
const sorted = Object.entries(kept).toSorted(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(KEPT, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
