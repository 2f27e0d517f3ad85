/**
 * Four lists in one constant database, in real dnsdist: `node bench/dnsdist.ts [names]`. Measures the resident memory, queries per
 * second beside dnsdist without filtering (needs dnsperf), and the time from a changed source to the answer. Compares a million
 * answers with what the sources say, read here line by line.
 */
import { Buffer } from "node:buffer";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  appendFileSync,
  createReadStream,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { Random } from "../test/support/random.ts";
import { report, rounded } from "./inputs.ts";

const NAMES = Number(process.argv[2] ?? 200_000);
const QUESTIONS = Math.min(1_000_000, NAMES * 2);
const CHANGED = 1000;
const PORT = 5397;
const ROUNDS = 5;
const BIN = join(import.meta.dirname, "../dist/cli/bin.js");
const LISTS = ["Ads", "Privacy", "Threats", "Family"];
/** A combination of lists for each type of query. */
const COMBINATIONS: readonly (readonly [type: number, lists: readonly number[]])[] = [
  [1, [0]],
  [28, [1, 2]],
  [15, [3]],
  [16, [0, 1, 2, 3]],
];
const folder = mkdtempSync(join(tmpdir(), "bench-dnsdist-"));
const random = new Random(5);

const TOPS = ["com", "com", "com", "com", "net", "org", "de", "xyz", "top", "info"];
const WORDS = ["ads", "track", "shop", "news", "cloud", "mail", "login", "stat", "game", "bank"];

/** A name for each number; one of eight has three labels. */
function nameOf(number: number): string {
  const mixed = Math.imul(number, 0x9e3779b1) >>> 0;
  const base = `${WORDS[mixed % 10]}${number.toString(36)}${WORDS[(mixed >>> 8) % 10]}.${TOPS[(mixed >>> 16) % 10]}`;
  return mixed % 8 === 0 ? `${WORDS[(mixed >>> 4) % 10]}.${base}` : base;
}

/** Lists of a name, as bits: most names are in one. */
function listsOf(number: number): number {
  const mixed = (Math.imul(number, 0x85ebca6b) >>> 0) % 16;
  return mixed === 0 ? 15 : mixed < 5 ? 3 << (mixed % 3) : 1 << (mixed % 4);
}

function writeSources(): void {
  const files = LISTS.map((list) => openSync(join(folder, `${list}.txt`), "w"));
  for (let from = 0; from < NAMES; from += 100_000) {
    const texts = LISTS.map(() => [] as string[]);
    for (let number = from; number < Math.min(NAMES, from + 100_000); number++) {
      const lists = listsOf(number);
      for (const [index, text] of texts.entries()) {
        if (((lists >> index) & 1) === 0) continue;
        text.push(`||${nameOf(number)}^`);
        if (number % 500 === index) text.push(`@@||free.${nameOf(number)}^`);
      }
    }
    for (const [index, text] of texts.entries()) writeSync(files[index]!, `${text.join("\n")}\n`);
  }
  for (const file of files) closeSync(file);
  const config = {
    name: "Ours",
    sources: LISTS.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    lists: LISTS.map((name) => ({ name, sources: [name] })),
    combined: [{ format: "cdb", file: "all.cdb" }],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
}

function compile(): number {
  const began = Date.now();
  const words = [BIN, "-q", "-c", "c.json", "--no-cache", "--no-record"];
  execFileSync(process.execPath, words, { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  return (Date.now() - began) / 1000;
}

const TYPES: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA", 15: "MX", 16: "TXT" };

function configuration(isFiltering: boolean): string {
  const rules = COMBINATIONS.map(([type, lists]) => {
    const names = lists.map((list) => `'${LISTS[list]}'`).join(", ");
    return `addAction(AndRule({ QTypeRule(${type}), lists.blocks(${names}) }), RCodeAction(DNSRCode.NXDOMAIN))`;
  });
  const filter = isFiltering
    ? [`local lists = dofile('${folder}/rules/all.cdb.lua')`, ...rules]
    : [];
  const path = join(folder, isFiltering ? "filter.conf" : "plain.conf");
  const lines = [
    `setLocal('127.0.0.1:${PORT}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')`,
    `newServer({ address = '127.0.0.1:${PORT + 1}', healthCheckMode = 'up' })`,
    ...filter,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** The resolver behind it is another dnsdist, which refuses everything. */
function startResolver(): ChildProcess {
  const path = join(folder, "resolver.conf");
  const text = `setLocal('127.0.0.1:${PORT + 1}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
addAction(AllRule(), RCodeAction(DNSRCode.REFUSED))
`;
  writeFileSync(path, text);
  return spawn("dnsdist", ["--supervised", "--disable-syslog", "-C", path], { stdio: "ignore" });
}

/** Calls an action while dnsdist runs. */
async function withDnsdist<T>(
  isFiltering: boolean,
  action: (pid: number) => Promise<T>,
): Promise<T> {
  const words = ["--supervised", "--disable-syslog", "-C", configuration(isFiltering)];
  const child: ChildProcess = spawn("dnsdist", words, { stdio: "ignore" });
  const closed = new Promise((done) => child.on("close", done));
  try {
    for (let tries = 0; (await ask([["a.invalid", 1]]))[0] === undefined; tries++)
      if (tries > 100) throw new Error("dnsdist does not answer");
    return await action(child.pid!);
  } finally {
    child.kill("SIGKILL");
    await closed;
  }
}

type Question = readonly [name: string, type: number];

function packet(id: number, [name, type]: Question): Buffer {
  const bytes = Buffer.alloc(12 + name.length + 2 + 4);
  bytes.writeUInt16BE(id & 0xffff, 0);
  bytes.writeUInt16BE(0x0100, 2);
  bytes.writeUInt16BE(1, 4);
  let at = 12;
  for (const label of name.split(".")) {
    bytes[at++] = label.length;
    at += bytes.write(label, at, "latin1");
  }
  bytes.writeUInt16BE(type, at + 1);
  bytes.writeUInt16BE(1, at + 3);
  return bytes;
}

const IN_FLIGHT = 200;
const PATIENCE_MS = 1000;

/** The response codes; undefined for questions without an answer. */
async function ask(questions: readonly Question[]): Promise<(number | undefined)[]> {
  const codes: (number | undefined)[] = Array.from({ length: questions.length });
  const socket = createSocket("udp4");
  socket.on("error", () => {});
  for (let from = 0; from < questions.length; from += IN_FLIGHT) {
    const part = questions.slice(from, from + IN_FLIGHT);
    for (let tries = 0; tries < 5; tries++) {
      const open = part.flatMap((_, index) => (codes[from + index] === undefined ? [index] : []));
      if (open.length === 0) break;
      let left = open.length;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, PATIENCE_MS);
        socket.removeAllListeners("message");
        socket.on("message", (answer) => {
          // A late answer to a question that was asked twice must not count for another one.
          const index = (answer.readUInt16BE(0) - from) & 0xffff;
          const sent = index < part.length ? packet(from + index, part[index]!) : undefined;
          if (sent === undefined || !answer.subarray(12, sent.length).equals(sent.subarray(12)))
            return;
          if (codes[from + index] !== undefined) return;
          codes[from + index] = answer[3]! & 15;
          if (--left > 0) return;
          clearTimeout(timer);
          done();
        });
        for (const index of open)
          socket.send(packet(from + index, part[index]!), PORT, "127.0.0.1");
      });
      if (questions.length === 1) break;
    }
  }
  socket.close();
  return codes;
}

function suffixes(name: string): string[] {
  const labels = name.split(".");
  return labels.map((_, index) => labels.slice(index).join("."));
}

function randomQuestions(): Question[] {
  return Array.from({ length: QUESTIONS }, (_, index) => {
    const name = nameOf(random.below(Math.floor(NAMES * 1.3)));
    const asked = random.pick([
      name,
      name,
      `www.${name}`,
      `free.${name}`,
      `a.free.${name}`,
      `x${name}`,
    ]);
    return [asked, COMBINATIONS[index % COMBINATIONS.length]![0]];
  });
}

/** What each list has for the names of questions and their parents, read from the sources: 1 blocked, 2 allowed. */
async function meanings(asked: readonly Question[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (const [name] of asked)
    for (const one of suffixes(name))
      if (!found.has(one)) found.set(one, new Uint8Array(LISTS.length));
  for (const [index, list] of LISTS.entries())
    for await (const line of createInterface({
      input: createReadStream(join(folder, `${list}.txt`)),
    })) {
      const isAllow = line.startsWith("@@");
      const entry = found.get(line.slice(isAllow ? 4 : 2, -1));
      if (entry !== undefined) entry[index] = isAllow ? 2 : 1;
    }
  return found;
}

/** An exception wins over a block, wherever it stands. */
function isBlocked(
  name: string,
  lists: readonly number[],
  found: ReadonlyMap<string, Uint8Array>,
): boolean {
  const entries = suffixes(name).map((one) => found.get(one)!);
  return lists.some(
    (list) => entries.some((one) => one[list] === 1) && entries.every((one) => one[list] !== 2),
  );
}

function memory(pid: number): number {
  return (
    Number(/VmRSS:\s+(?<kb>\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!.groups!["kb"]) /
    1000
  );
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Queries per second on the clock, and per second of dnsdist's CPU time. */
function speed(pid: number): { wall: number; cpu: number } {
  const before = cpuSeconds(pid);
  const words = ["-s", "127.0.0.1", "-p", String(PORT), "-d", join(folder, "queries"), "-n", "1"];
  const said = execFileSync("dnsperf", words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const completed = Number(/Queries completed:\s+(?<count>\d+)/.exec(said)!.groups!["count"]);
  const wall = Number(/Queries per second:\s+(?<rate>[\d.]+)/.exec(said)!.groups!["rate"]);
  return { wall, cpu: completed / (cpuSeconds(pid) - before) };
}

/** A large run takes a while. */
function note(step: object): void {
  process.stderr.write(`${JSON.stringify(step)}\n`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

const resolver = startResolver();
try {
  writeSources();
  const compileSeconds = compile();
  note({ compileSeconds });
  const asked = randomQuestions();
  const lines = asked.slice(0, 200_000).map(([name, type]) => `${name} ${TYPES[type]}\n`);
  writeFileSync(join(folder, "queries"), lines.join(""));
  const compared = await withDnsdist(true, async (pid) => {
    const codes = await ask(asked);
    const resident = memory(pid);
    const found = await meanings(asked);
    const wrong = asked.filter(([name, type], index) => {
      const lists = COMBINATIONS.find(([one]) => one === type)![1];
      return codes[index] !== (isBlocked(name, lists, found) ? 3 : 5);
    });
    return {
      residentMb: rounded(resident),
      wrong: wrong.length,
      silent: codes.filter((code) => code === undefined).length,
      blocked: codes.filter((code) => code === 3).length,
    };
  });
  note(compared);
  const speeds: { plain: { wall: number; cpu: number }; filter: { wall: number; cpu: number } }[] =
    [];
  for (let round = 0; round < ROUNDS; round++) {
    const plain = await withDnsdist(false, async (pid) => speed(pid));
    const filter = await withDnsdist(true, async (pid) => speed(pid));
    speeds.push({ plain, filter });
    note({ plain, filter });
  }
  const change = await withDnsdist(true, async () => {
    const fresh = Array.from({ length: CHANGED }, (_, index) => `changed${index}.example`);
    const began = Date.now();
    appendFileSync(join(folder, "Ads.txt"), fresh.map((name) => `||${name}^\n`).join(""));
    const again = compile();
    while ((await ask(fresh.map((name) => [name, 1]))).some((code) => code !== 3))
      await new Promise((later) => setTimeout(later, 100));
    return { compileSeconds: again, answeredSeconds: (Date.now() - began) / 1000 };
  });
  report("dnsdist", {
    names: NAMES,
    compileSeconds: rounded(compileSeconds),
    databaseMb: rounded(statSync(join(folder, "rules/all.cdb")).size / 1e6),
    questions: asked.length,
    ...compared,
    queriesPerSecond: rounded(median(speeds.map(({ filter }) => filter.wall))),
    queriesPerSecondPlain: rounded(median(speeds.map(({ plain }) => plain.wall))),
    ratioWall: rounded(median(speeds.map(({ plain, filter }) => filter.wall / plain.wall))),
    ratioCpu: rounded(median(speeds.map(({ plain, filter }) => filter.cpu / plain.cpu))),
    change,
  });
  if (compared.wrong > 0) process.exitCode = 1;
} finally {
  resolver.kill("SIGKILL");
  rmSync(folder, { recursive: true });
}
