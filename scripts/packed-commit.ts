/** Writes dist/commit, which `--version` shows: the commit that a package is made from, unless it is the commit of a release. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const git = (...words: string[]): string => spawnSync("git", words, { encoding: "utf8" }).stdout;
const tags = git("tag", "--points-at", "HEAD").split("\n");
if (!tags.includes(`v${version}`)) writeFileSync("dist/commit", git("rev-parse", "HEAD"));
