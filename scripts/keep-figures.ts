/** Keeps the output of the last complete run of the slow tests, for docs/guide/reliability.md. */
import { readFileSync, writeFileSync } from "node:fs";

const figures = ["figures", "figures-alone"].flatMap(
  (name) => JSON.parse(readFileSync(`test/artifacts/${name}.json`, "utf8")) as object[],
);
writeFileSync("bench/results/reliability.json", `${JSON.stringify(figures, undefined, 2)}\n`);
