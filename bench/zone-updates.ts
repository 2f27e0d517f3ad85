import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { ZONE, askAll } from "../test/support/resolvers/dns-client.ts";
import { type DynamicPrimary, startPrimary } from "../test/support/resolvers/dynamic-primaries.ts";
import { freeTcpPort } from "../test/support/resolvers/squid.ts";

/**
 * How long after a publish a primary answers changed names: by the script of the difference, beside loading the whole file. Needs
 * BIND and Knot DNS. `NAMES` and `CHANGED` set other sizes.
 */
const NAMES = Number(process.env["NAMES"] ?? 1_000_000);
const CHANGED = Number(process.env["CHANGED"] ?? 1000);
const BIN = join(import.meta.dirname, "../dist/cli/bin.js");
const root = mkdtempSync(join(tmpdir(), "zone-bench-"));
const ports = [await freeTcpPort(), await freeTcpPort()];

function publish(names: readonly string[]): void {
  writeFileSync(join(root, "own.txt"), `${names.map((name) => `||${name}^`).join("\n")}\n`);
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    outputs: ports.map((port, index) => ({
      format: "rpz",
      file: `zone${index}`,
      updates: `127.0.0.1#${port}`,
    })),
  };
  writeFileSync(join(root, "c.json"), JSON.stringify(config));
  const began = performance.now();
  const words = [BIN, "-c", "c.json", "--no-cache", "--no-record", "-q"];
  execFileSync(process.execPath, words, { cwd: root, stdio: "inherit" });
  process.stdout.write(
    `publish of two zones: ${((performance.now() - began) / 1000).toFixed(1)} s\n`,
  );
}

function nameOf(index: number): string {
  return `${"abcdefgh"[index % 8]}${(index * 7919).toString(36)}.d${index % 9973}.example`;
}

async function answers(primary: DynamicPrimary, names: readonly string[]): Promise<boolean> {
  const asked = names.map((name) => `${name}.rpz.local`);
  return (await askAll(primary.place.port, asked, 64, ZONE)).every((said) => said === "blocked");
}

/** Runs a program. The event loop goes on, because a server whose log is not read would stop. */
async function run(program: string, words: readonly string[]): Promise<unknown> {
  const child = spawn(program, words, { stdio: "ignore" });
  return await new Promise((end) => child.once("exit", end));
}

/** Seconds until a primary answers all names, after some work. */
async function secondsOf(
  primary: DynamicPrimary,
  names: readonly string[],
  work: () => Promise<unknown>,
): Promise<string> {
  const began = performance.now();
  await work();
  while (!(await answers(primary, [names.at(-1)!]))) await sleep(20);
  while (!(await answers(primary, names))) await sleep(20);
  return ((performance.now() - began) / 1000).toFixed(2);
}

const primaries: DynamicPrimary[] = [];
try {
  const names = Array.from({ length: NAMES }, (_, index) => nameOf(index));
  publish(names);
  for (const [index, name] of (["BIND", "Knot DNS"] as const).entries()) {
    const place = { folder: join(root, `primary${index}`), port: ports[index]! };
    const primary = startPrimary(name, place, join(root, "rules", `zone${index}`));
    primaries.push(primary);
    const loaded = await secondsOf(primary, names.slice(0, 100), async () => {});
    process.stdout.write(`${name}: ${NAMES} names loaded after ${loaded} s\n`);
  }
  const added = Array.from({ length: CHANGED }, (_, index) => nameOf(NAMES + index));
  names.splice(0, CHANGED, ...added);
  publish(names);
  for (const [index, primary] of primaries.entries()) {
    const zone = join(root, "rules", `zone${index}`);
    const [head] = readFileSync(`${zone}.nsupdate`, "utf8").split("\n", 1);
    const seconds = await secondsOf(primary, added, () =>
      run("nsupdate", ["-v", "-k", primary.keyFile, `${zone}.nsupdate`]),
    );
    process.stdout.write(
      `${primary.name}: ${CHANGED} changed names answered after ${seconds} s (${head})\n`,
    );
  }
} finally {
  for (const { child } of primaries) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
}
