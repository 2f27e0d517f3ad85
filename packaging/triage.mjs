// Answers an issue that names domains: whether the list blocks them, by which source, since when, and whom to write to. Writes a comment in
// Markdown to standard output, or nothing if the issue names no domain. Environment: CONFIG, VERSION, ISSUE (title and text).
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const { CONFIG, VERSION, ISSUE = "" } = process.env;
const MOST = 5;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const NAME = new RegExp(`(?<![\\w@./-])(?:${LABEL}\\.)+[a-z]{2,63}(?![\\w-]|\\.\\w)`, "g");

// Only names reach a command line; everything else in an issue is ignored.
const text = ISSUE.toLowerCase()
  .replaceAll("hxxp", "http")
  .replaceAll("[.]", ".")
  .replaceAll(/https?:\/\//g, " ");
const names = [...new Set(text.match(NAME) ?? [])].slice(0, MOST);
if (names.length > 0) answer();

function answer() {
  // A clone has the lists but no build record: build them again, in a folder of their own, which also keeps rules.lock as it is.
  const folder = mkdtempSync(join(tmpdir(), "triage-"));
  const output = ["-o", `${folder}/`];
  compiler(["compile", "--quiet", ...output], new Set([0, 3]));
  const why = compiler(["why", ...output, "--", ...names], new Set([0, 1]));
  rmSync(folder, { recursive: true });
  const lines = why.replaceAll(`${folder}/`, "");
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  process.stdout.write(
    `Today's list says:\n\n${fence}text\n${lines.trim()}\n${fence}\n\nA name that a source blocks by mistake should be reported to that source, too: everybody who uses it profits.\n`,
  );
}

function compiler([command, ...words], codes) {
  const { status, stdout, stderr } = spawnSync(
    "npx",
    ["--yes", `rules-compiler@${VERSION}`, command, "-c", CONFIG, ...words],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  );
  if (!codes.has(status)) {
    process.stderr.write(stderr);
    process.exit(status ?? 1);
  }
  return stdout;
}
