import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { type Socket, createSocket } from "node:dgram";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { PROGRAM } from "../support/command.ts";
import { listOf } from "../support/resolvers/proof-loop.ts";
import { freeTcpPort } from "../support/resolvers/reloadable.ts";
import { SimulatedResolver } from "../support/resolvers/simulated-resolvers.ts";

/** The real `serve` asks a thousand resolvers on real sockets, of which 300 answer nothing. */
const COUNT = 1000;
const SILENT = 300;
const LIMIT_MB = 150;
const FOUND_MS = 120_000;
const MOST_SOCKETS = 200;
/** Files, pipes and the socket of the web server. */
const OTHER_FILES = 40;
const PATIENCE_MS = 600_000;
/** As often as Prometheus asks. */
const SCRAPE_MS = 10_000;

interface Probed {
  readonly resolver: SimulatedResolver;
  readonly socket: Socket;
  isDeaf: boolean;
}

async function start(): Promise<Probed> {
  const socket = createSocket("udp4");
  const resolver = new SimulatedResolver();
  resolver.blocksBelow = true;
  const probed = { resolver, socket, isDeaf: false };
  socket.on("message", (asked, { port }) => {
    if (resolver.isDown) return;
    const answer = resolver.answer(asked);
    const isForwarded = answer[7] !== 0 || answer[9] !== 0;
    if (!(probed.isDeaf && isForwarded)) socket.send(answer, port, "127.0.0.1");
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  return probed;
}

const rounds = (text: string): number =>
  Number(/^rules_compiler_probe_timestamp_seconds (?<at>\S+)$/m.exec(text)?.groups?.["at"] ?? 0);
const lasted = (text: string): number =>
  Number(/^rules_compiler_probe_duration_seconds (?<s>\S+)$/m.exec(text)?.groups?.["s"] ?? 0);

const outcome = (text: string, name: string, wanted: string): boolean =>
  text.includes(`outcome="${wanted}"`) &&
  text
    .split("\n")
    .some(
      (line) =>
        line.includes(`resolver="${name}"`) &&
        line.includes(`outcome="${wanted}"`) &&
        line.endsWith(" 1"),
    );

test(
  "serve asks a thousand resolvers every minute with 150 MB more than at rest, and finds what breaks within two",
  { timeout: 1_800_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "thousand-"));
    const all: Probed[] = [];
    for (let index = 0; index < COUNT; index++) all.push(await start());
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      resolvers: all.map(({ socket }, index) => ({
        name: `r${index}`,
        address: `127.0.0.1:${socket.address().port}`,
      })),
    };
    writeFileSync(join(folder, "c.json"), JSON.stringify(config));
    writeFileSync(join(folder, "own.txt"), listOf(0));
    const env = { ...process.env, RULES_DIR: folder, XDG_CACHE_HOME: join(folder, ".cache") };
    const made = spawn(process.execPath, [PROGRAM, "-c", "c.json", "-q"], { cwd: folder, env });
    assert.equal(await new Promise((end) => made.once("close", end)), 0);
    const list = readFileSync(join(folder, "list.txt"), "utf8");
    for (const [index, { resolver }] of all.entries()) {
      resolver.reload(list);
      resolver.isDown = index % 10 < (SILENT * 10) / COUNT;
    }
    const web = await freeTcpPort();
    const flags = "serve -c c.json --permit hooks --wait 2s --port".split(" ");
    const schedule = ["--schedule", `0 ${(new Date().getMinutes() + 50) % 60} * * * *`];
    const server = spawn(process.execPath, [PROGRAM, ...flags, String(web), ...schedule], {
      cwd: folder,
      env,
      stdio: "ignore",
    });
    let files = 0;
    const counting = setInterval(() => {
      try {
        files = Math.max(files, readdirSync(`/proc/${server.pid}/fd`).length);
      } catch {
        // It ended; the test says so.
      }
    }, 50);
    context.after(async () => {
      clearInterval(counting);
      const ended = new Promise((closed) => server.once("close", closed));
      server.kill("SIGTERM");
      await ended;
      for (const { socket } of all) socket.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const metrics = async (): Promise<string> =>
      await fetch(`http://127.0.0.1:${web}/metrics`).then(
        async (answer) => await answer.text(),
        () => "",
      );
    const until = async (isSo: (text: string) => boolean): Promise<string> => {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(SCRAPE_MS)) {
        const text = await metrics();
        if (isSo(text)) return text;
      }
      return assert.fail(`in time: ${(await metrics()).slice(0, 3000)}`);
    };
    const memory = (what: string): number => {
      const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
      return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)![1]) / 1024;
    };
    await until((text) => text !== "");
    const atRest = memory("VmRSS");
    const first = await until((text) => outcome(text, "r5", "proved") && rounds(text) > 0);
    const calm = await until((text) => rounds(text) > rounds(first));
    assert.ok(outcome(calm, "r0", "unreachable"));
    // What breaks just after it was asked is found by the next round.
    all[5]!.resolver.mode = "nothing";
    all[5]!.resolver.reload("");
    all[6]!.isDeaf = true;
    const began = Date.now();
    const found = await until(
      (text) => outcome(text, "r5", "unfiltered") && outcome(text, "r6", "unreachable"),
    );
    const tookMs = Date.now() - began;
    assert.match(found, /resolver_upstream_up\{[^}]*resolver="r6"[^}]*\} 0/);
    const most = memory("VmHWM");
    context.diagnostic(
      `rounds of ${lasted(calm).toFixed(1)} and ${lasted(found).toFixed(1)} s; found after ${(tookMs / 1000).toFixed(0)} s; ${most.toFixed(0)} MB, ${atRest.toFixed(0)} before; at most ${files} open files`,
    );
    assert.ok(tookMs < FOUND_MS, `${tookMs} ms`);
    assert.ok(most - atRest < LIMIT_MB, `${most - atRest} MB`);
    assert.ok(files < MOST_SOCKETS + OTHER_FILES, `${files} open files`);
  },
);
