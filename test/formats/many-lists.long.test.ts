import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { corpusEntries, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { withAncestors } from "../support/reference/names.ts";
import { type Said, askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { Running, type Server, freePort } from "../support/resolvers/servers.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const LISTS = 200;
/** The beginning of each list. */
const LINES = isNightly ? 10_000 : 1000;
const QUESTIONS = isNightly ? 1_000_000 : 24_000;
/** Names that are compared at a time. */
const PART = isNightly ? 50_000 : 6000;
/** How many of the lists each group of clients has. */
const GROUPS = [1, 12, 80, LISTS];

interface Built {
  readonly folder: string;
  /** The published lists, by their places. */
  readonly files: readonly string[];
}

function listName(index: number): string {
  return `list-${index}`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/** Real lists, each of which is a list of one configuration, and the database of all. */
function buildLists(folder: string): Built {
  const entries = corpusEntries()
    .filter(({ syntax, lines }) => syntax !== "adblock-full" && lines >= 100)
    .filter(({ file }) => existsSync(join(corpusFolder("power"), file)))
    .slice(0, LISTS);
  assert.equal(entries.length, LISTS);
  const types: Readonly<Record<string, string>> = { hosts: "hosts", domains: "domains" };
  for (const [index, { file }] of entries.entries()) {
    const lines = readFileSync(join(corpusFolder("power"), file), "utf8").split("\n");
    writeFileSync(join(folder, `${index}.txt`), `${lines.slice(0, LINES).join("\n")}\n`);
  }
  const config = {
    name: "All",
    sources: entries.map(({ syntax }, index) => ({
      name: listName(index),
      source: `${index}.txt`,
      type: types[syntax] ?? "adblock",
    })),
    transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
    lists: entries.map((_, index) => ({ name: listName(index), sources: [listName(index)] })),
    combined: [{ format: "cdb", file: "all.cdb" }],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const accept = ["too-few-rules", "blocks-suffix", "blocks-protected"];
  execFileSync(
    process.execPath,
    [
      BIN,
      "-q",
      "-c",
      "c.json",
      "--no-cache",
      "--no-record",
      ...accept.flatMap((code) => ["--accept", code]),
    ],
    { cwd: folder, maxBuffer: 1e9, stdio: "pipe" },
  );
  return { folder, files: entries.map((_, index) => join(folder, `rules/${listName(index)}.txt`)) };
}

/** Each group of clients asks at a port of its own. */
function dnsdist(
  groups: readonly (readonly number[])[],
  ports: readonly number[],
  isFiltering: boolean,
): Server {
  return {
    format: "cdb",
    start: ({ folder, upstream }) => {
      const path = join(folder, "dnsdist.conf");
      const rules = groups.map((lists, group) => {
        const names = lists.map((list) => `'list-${list}'`).join(", ");
        return `addAction(AndRule({ DSTPortRule(${ports[group]}), lists.blocks(${names}) }), RCodeAction(DNSRCode.NXDOMAIN))`;
      });
      const text = [
        `setLocal('127.0.0.1:${ports[0]}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')`,
        ...ports.slice(1).map((port) => `addLocal('127.0.0.1:${port}')`),
        `newServer({ address = '127.0.0.1:${upstream}', healthCheckMode = 'up' })`,
        ...(isFiltering ? ["local lists = dofile('rules/all.cdb.lua')", ...rules] : []),
      ];
      writeFileSync(path, `${text.join("\n")}\n`);
      return ["dnsdist", "--supervised", "--disable-syslog", "-C", path];
    },
  };
}

/** The name of a line of a published list that is for one name. */
const NAMED = /^(?:@@)?\|{1,2}(?:\*\.)?(?<name>[a-z0-9_.-]+)\^(?:\$[^/]*)?$/;

const PLAIN = /^(?=.{4,200}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]*$/;

/** Names of the lists, some below them, and some that only look like them. */
function randomNames(files: readonly string[], random: Random): string[] {
  const each = Math.ceil((1.5 * QUESTIONS) / GROUPS.length / files.length);
  const names = files.flatMap((file) => {
    const lines = readFileSync(file, "utf8").split("\n");
    return Array.from({ length: each }, () => {
      const name = NAMED.exec(random.pick(lines))?.groups?.["name"] ?? "other.example.org";
      const dot = name.indexOf(".");
      return random.pick([
        name,
        name,
        `www.${name}`,
        `a.b.${name}`,
        `x${name}`,
        name.slice(dot + 1),
      ]);
    });
  });
  const plain = [...new Set(names)].filter((name) => PLAIN.test(name));
  return plain.slice(0, QUESTIONS / GROUPS.length);
}

interface Truth {
  /** The lists that block the name. */
  readonly blocks: ReadonlySet<number>;
  /** Lists in which an exception without a name may free the name: they may block less than they mean. */
  readonly isUnsure: ReadonlySet<number>;
}

/** What each list says about names, by the reference. Only the lines that matter for these names are read. */
function truthOf(names: readonly string[], files: readonly string[]): ReadonlyMap<string, Truth> {
  const wanted = new Set(names.flatMap((name) => [name, ...withAncestors(name)]));
  const truth = new Map(
    names.map((name) => [name, { blocks: new Set<number>(), isUnsure: new Set<number>() }]),
  );
  for (const [list, file] of files.entries()) {
    const kept: string[] = [];
    const hosts = new Set<string>();
    let hasPatterns = false;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "" || line.startsWith("!")) continue;
      const name = NAMED.exec(line)?.groups?.["name"];
      if (name === undefined) {
        kept.push(line);
        hasPatterns ||= line.startsWith("@@");
      } else if (wanted.has(name)) {
        kept.push(line);
        hosts.add(name);
      }
    }
    const matcher = new ListMatcher(kept);
    for (const [name, { blocks, isUnsure }] of truth) {
      if (![name, ...withAncestors(name)].some((one) => hosts.has(one))) continue;
      const { meaning, by } = matcher.decide(name);
      // No database says what a pattern blocks.
      if (meaning === "blocked" && by.some(({ host }) => host !== undefined)) blocks.add(list);
      if (hasPatterns || (meaning === "blocked" && by.some(({ host }) => host === undefined)))
        isUnsure.add(list);
    }
  }
  return truth;
}

function cpuSeconds({ child }: Running): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

async function answersFrom(port: number, names: readonly string[]): Promise<Said[]> {
  const answers = await askAll(port, names);
  const open = [...answers.keys()].filter((at) => answers[at] === "silent");
  const again = await askAll(
    port,
    open.map((at) => names[at]!),
    8,
  );
  for (const [place, at] of open.entries()) answers[at] = again[place]!;
  return answers;
}

test(
  `${LISTS} real lists in one database: dnsdist answers for groups of clients as their lists say`,
  { skip: missingCorpus, timeout: 3_600_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "many-lists-"));
    chmodSync(folder, 0o755);
    const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
    context.after(async () => {
      for (const end of ends.toReversed()) await end();
    });
    const began = Date.now();
    const { files } = buildLists(folder);
    const random = new Random(12);
    const groups = GROUPS.map((count) =>
      Array.from({ length: count }, (_, index) => Math.floor((index * LISTS) / count)),
    );
    const names = randomNames(files, random);
    const upstream = await startUpstream();
    ends.push(() => upstream.close());
    const ports = await Promise.all(groups.map(freePort));
    const setting = { folder, upstream: upstream.port, list: "", allow: "" };
    const plain = await Running.start(dnsdist(groups, ports, false), setting);
    ends.push(() => plain.stop());
    const plainCpu = await costOf(plain, ports.at(-1)!, names);
    const plainMemory = plain.memory;
    await plain.stop();
    const running = await Running.start(dnsdist(groups, ports, true), setting);
    ends.push(() => running.stop());
    const cpu = await costOf(running, ports.at(-1)!, names);
    const counts = { asked: 0, blocked: 0, missed: 0 };
    const wrong: string[] = [];
    for (let from = 0; from < names.length; from += PART) {
      const part = names.slice(from, from + PART);
      const truth = truthOf(part, files);
      for (const [group, lists] of groups.entries()) {
        const answers = await answersFrom(ports[group]!, part);
        for (const [at, name] of part.entries()) {
          const { blocks, isUnsure } = truth.get(name)!;
          const by = lists.filter((list) => blocks.has(list));
          counts.asked++;
          if (answers[at] === "blocked") counts.blocked++;
          if (answers[at] === (by.length > 0 ? "blocked" : "passed")) continue;
          if (answers[at] === "passed" && by.every((list) => isUnsure.has(list))) counts.missed++;
          else wrong.push(`${name} in group ${group}: ${answers[at]}, blocked by ${by.join()}`);
        }
      }
    }
    context.diagnostic(
      `${LISTS} lists, database ${megabytes(statSync(join(folder, "rules/all.cdb")).size)}: ${counts.asked} questions, ${counts.blocked} blocked, ${counts.missed} not because an exception without a name may free them, ${wrong.length} wrong; dnsdist has ${megabytes(running.memory)}, without the lists ${megabytes(plainMemory)}; CPU time for a question ${(1e6 * cpu).toFixed(1)} µs, without the lists ${(1e6 * plainCpu).toFixed(1)} µs; ${Math.round((Date.now() - began) / 1000)} s`,
    );
    assert.equal(wrong.length, 0, wrong.slice(0, 10).join("\n"));
    assert.ok(counts.blocked > counts.asked / 10 && counts.missed < counts.asked / 1000);
    assert.ok(names.length * GROUPS.length > 0.9 * QUESTIONS, String(names.length));
  },
);

/** Seconds of CPU time for a question of the last group, which has all lists. */
async function costOf(running: Running, port: number, names: readonly string[]): Promise<number> {
  for (let tries = 0; (await askAll(port, ["control.org"]))[0] !== "passed"; tries++)
    assert.ok(tries < 100 && running.child.exitCode === null, running.log);
  const asked = names.slice(0, 50_000);
  const before = cpuSeconds(running);
  await answersFrom(port, asked);
  return (cpuSeconds(running) - before) / asked.length;
}
