/**
 * A second run of 25 lists from 65 unchanged sources, compared with the first: the cost of detecting that nothing changed. Then the
 * same while the server has lost a source. The sources are the typical corpus in 65 parts, from a local server; each list has more
 * of them than the one before, and every fifth must cover the fifth before it. The goal is a twentieth of the first run's CPU time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig } from "../test/support/corpus.ts";
import { inputOf, report, rounded } from "./inputs.ts";
import { measure } from "./measure.ts";

const AIM = 0.05;
const SOURCES = 65;
const LISTS = 25;
const PROMISE = 5;

/** Serves the files of its folder, with 304 for unchanged ones. Prints its port. */
const SERVER = `
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
const server = createServer((request, response) => {
  const etag = JSON.stringify(request.url);
  const isKnown = request.headers["if-none-match"] === etag;
  if (!existsSync(process.argv[1] + request.url)) response.writeHead(404).end();
  else response.writeHead(isKnown ? 304 : 200, { etag, "content-type": "text/plain" });
  if (!response.writableEnded) response.end(isKnown ? undefined : readFileSync(process.argv[1] + request.url));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

const folder = mkdtempSync(join(tmpdir(), "bench-unchanged-"));
// Without exceptions, so that more sources block more, and without the number of entries, which is not that of a part.
const lines = inputOf("typical")
  .files.flatMap((file) => readFileSync(file, "latin1").split("\n"))
  .filter((line) => !/^@@|badfilter|^[!#].*\d,?\d{3}/.test(line));
for (let index = 0; index < SOURCES; index++) {
  const from = Math.floor((lines.length * index) / SOURCES);
  const to = Math.floor((lines.length * (index + 1)) / SOURCES);
  writeFileSync(join(folder, `${index}.txt`), `${lines.slice(from, to).join("\n")}\n`, "latin1");
}
const server: ChildProcess = spawn(
  process.execPath,
  ["--input-type=module", "-e", SERVER, folder],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const [said] = (await once(server.stdout!, "data")) as [Uint8Array];
const port = new TextDecoder().decode(said).trim();
const sources = Array.from({ length: SOURCES }, (_, index) => ({
  name: `s${index}`,
  source: `http://127.0.0.1:${port}/${index}.txt`,
  type: "adblock",
  allow_private: true,
}));
const lists = Array.from({ length: LISTS }, (_, index) => ({
  name: `list ${index}`,
  sources: sources.slice(0, Math.ceil((SOURCES * (index + 1)) / LISTS)).map(({ name }) => name),
  ...(index >= PROMISE && index % PROMISE === 0 && { covers: [`list ${index - PROMISE}`] }),
}));
const { transformations } = corpusConfig();
writeFileSync(
  join(folder, "config.json"),
  JSON.stringify({ name: "lists", sources, transformations, lists }),
);
const command = [
  process.execPath,
  join(import.meta.dirname, "../dist/cli/bin.js"),
  "-c",
  join(folder, "config.json"),
  "-q",
  "--cache-dir",
  join(folder, "cache"),
  ...["blocks-protected", "too-few-rules"].flatMap((one) => ["--accept", one]),
];
const env = { RULES_DIR: join(folder, "rules") };
try {
  const [first, again] = [measure(command, { env }), measure(command, { env })];
  rmSync(join(folder, "20.txt"));
  const [, without] = [measure(command, { env }), measure(command, { env })];
  const share = again.cpuSeconds / first.cpuSeconds;
  const shareWithout = without.cpuSeconds / first.cpuSeconds;
  report("unchanged-lists", {
    lists: LISTS,
    sources: SOURCES,
    lines: lines.length,
    firstCpuSeconds: rounded(first.cpuSeconds),
    againCpuSeconds: rounded(again.cpuSeconds),
    share: rounded(share),
    shareWithoutSource: rounded(shareWithout),
    aim: AIM,
  });
  if (process.argv.includes("--gate") && Math.max(share, shareWithout) > AIM) process.exitCode = 1;
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
