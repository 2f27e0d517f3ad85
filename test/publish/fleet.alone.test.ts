import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { blocksOf } from "../support/markdown.ts";
import { isNightly } from "../support/nightly.ts";
import { compileFor } from "../support/resolvers/compiled-for.ts";
import { Fleet } from "../support/resolvers/fleet.ts";
import { freeTcpPort } from "../support/resolvers/reloadable.ts";
import { switchName } from "../support/resolvers/switches.ts";
import { controlFile, startServer, TSIG } from "../support/resolvers/zone-servers.ts";

/**
 * A thousand secondaries of real BIND servers with the settings of the guide: one per cent of 100,000 names changes. They only count
 * what they fetch, so that the machine measures the servers.
 */
const SECONDARIES = 1000;
const NAMES = 100_000;
const CHANGED = NAMES / 100;
const LIMIT_SECONDS = 15;
const CORES = 2;
const PATIENCE_MS = 240_000;
const ZONE = "rpz.local";

const page = readFileSync(join(import.meta.dirname, "../../docs/guide/zone-transfer.md"), "utf8");
const SETTINGS = blocksOf(page).find(({ title }) => title === "fleet.conf")!.text;

interface Measured {
  readonly seconds: number;
  /** CPU time of all servers and secondaries. */
  readonly cpu: number;
  /** CPU time of the primary. */
  readonly primary: number;
  /** The share of the processors that others took. */
  readonly others: number;
  readonly refused: number;
  readonly transfers: number;
  readonly largest: number;
}

/** Publishes twice, and measures from the reload to the last secondary. */
async function publishTo(
  context: TestContext,
  distributors: number,
  settings: string,
): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), "fleet-"));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const publish = (from: number): string => {
    const names = Array.from({ length: NAMES }, (_, index) => switchName(index + from));
    return compileFor(
      "rpz",
      names.map((name) => `||${name}^`),
      root,
    ).list;
  };
  const list = publish(0);
  const before = serialOf(list);
  const ports: number[] = [];
  while (ports.length <= distributors) {
    const port = await freeTcpPort();
    // Behind the first is the one that controls it.
    if (port !== ports[0]! + 1) ports.push(port);
  }
  const above = (index: number): number => (distributors === 0 ? 0 : 1 + (index % distributors));
  const fleet = await Fleet.start(ZONE, SECONDARIES, (index) => ports[above(index)]!);
  context.after(() => fleet.close());
  fleet.know(before);
  const servers: ChildProcess[] = [];
  for (const [index, port] of ports.entries()) {
    const place = { folder: join(root, `server-${index}`), port };
    const below = fleet.ports.filter((_, one) => above(one) === index);
    const notified = index === 0 && distributors > 0 ? ports.slice(1) : below;
    const source =
      index === 0
        ? `type primary; file "${list}"; ixfr-from-differences yes; max-ixfr-ratio unlimited;`
        : `type secondary; file "zone"; masterfile-format text; primaries { 127.0.0.1 port ${ports[0]}; };`;
    const { child } = startServer(["named", "-f", "-c", conf(place, notified, source, settings)]);
    context.after(() => child.kill("SIGKILL"));
    servers.push(child);
    await until(async () => (await serialAt(port)) === before);
  }
  const published = serialOf(publish(CHANGED));
  const [cpuBefore, ownBefore, machine] = [servers.map(cpuOf), own(), busy()];
  const began = performance.now();
  await rndc(root, ports[0]!, "reload", ZONE);
  await until(async () => {
    await sleep(50);
    return fleet.at(published) === SECONDARIES;
  });
  const seconds = (fleet.times.at(-1)! - began) / 1000;
  const elapsed = (performance.now() - began) / 1000;
  const spent = servers.map((one, index) => cpuOf(one) - cpuBefore[index]!);
  const cpu = spent.reduce((sum, one) => sum + one, 0) + own() - ownBefore;
  const others = Math.max(0, busy() - machine - cpu) / (elapsed * CORES);
  const { refused, transfers, largest } = fleet;
  const measured = { seconds, cpu, primary: spent[0]!, others, refused, transfers, largest };
  context.diagnostic(
    `${distributors} servers between, ${SECONDARIES} secondaries: the last after ${seconds.toFixed(1)} s; CPU ${cpu.toFixed(1)} s, of it ${spent[0]!.toFixed(1)} of the primary; others took ${(others * 100).toFixed(0)} %; ${refused} refused, ${transfers} transfers of at most ${largest} bytes`,
  );
  return measured;
}

// oxlint-disable-next-line max-params -- what a server is configured with
function conf(
  { folder, port }: { folder: string; port: number },
  notified: readonly number[],
  source: string,
  settings: string,
): string {
  mkdirSync(folder);
  const isPrimary = source.startsWith("type primary");
  const path = join(folder, "named.conf");
  const notify = notified.map((to) => `127.0.0.1 port ${to};`).join(" ");
  writeFileSync(
    path,
    `key "rndc" { algorithm hmac-sha256; secret "${TSIG.secret}"; };
controls { ${isPrimary ? `inet 127.0.0.1 port ${port + 1} allow { 127.0.0.1; } keys { "rndc"; };` : ""} };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion no; dnssec-validation no; notify-delay 0; max-cache-size 8m; notify explicit; also-notify { ${notify} };
${settings} };
zone "${ZONE}" { ${source} allow-transfer { 127.0.0.1; }; };
`,
  );
  controlFile({ folder, port });
  return path;
}

async function rndc(root: string, port: number, ...words: string[]): Promise<string> {
  const file = controlFile({ folder: join(root, "server-0"), port });
  return (await promisify(execFile)("rndc", ["-c", file, ...words])).stdout;
}

async function serialAt(port: number): Promise<number | undefined> {
  const words = ["@127.0.0.1", "-p", String(port), "+short", "+tries=1", "+time=1", ZONE, "SOA"];
  try {
    const { stdout } = await promisify(execFile)("dig", words);
    return Number(stdout.split(" ")[2]);
  } catch {
    return undefined;
  }
}

function serialOf(file: string): number {
  return Number(/ SOA \S+ \S+ (?<serial>\d+)/.exec(readFileSync(file, "utf8"))!.groups!["serial"]);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < end, "in time");
    await sleep(100);
  }
}

const TICKS = 100;

function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function own(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Seconds that all processors were busy. */
function busy(): number {
  const [, user, nice, system] = readFileSync("/proc/stat", "utf8").split(/\s+/).map(Number);
  return (user! + nice! + system!) / TICKS;
}

/** Where others use the machine, the CPU time tells whether it would be in time. */
function assertInTime({ seconds, cpu, others, refused, transfers }: Measured): void {
  assert.equal(refused, 0, "refused");
  assert.equal(transfers, SECONDARIES);
  assert.ok(cpu < LIMIT_SECONDS * CORES, `${cpu} s of CPU time`);
  if (others < 0.1) assert.ok(seconds < LIMIT_SECONDS, `${seconds} s`);
}

test("with the settings of the guide, one primary updates a thousand secondaries in 15 seconds and refuses none", async (context) => {
  assertInTime(await publishTo(context, 0, SETTINGS));
});

test("a tree of two levels takes the load from the primary", async (context) => {
  const tree = await publishTo(context, 4, SETTINGS);
  assertInTime(tree);
  assert.ok(tree.primary < tree.cpu / 2, `${tree.primary} of ${tree.cpu} s`);
});

test("without the settings, some are refused and wait", { skip: !isNightly }, async (context) => {
  const { refused, seconds } = await publishTo(context, 0, "");
  assert.ok(refused > 0);
  assert.ok(seconds > SECONDARIES / 20 / 2, "20 notices a second");
});
