import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import {
  type DynamicPrimary,
  recordsOf,
  startPrimary,
  transferred,
} from "../support/resolvers/dynamic-primaries.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";

const GUIDE = join(import.meta.dirname, "../../docs/guide/zone-transfer.md");
const NAMES = isNightly ? 6000 : 2500;
const ROUNDS = isNightly ? 200 : 8;
const PATIENCE_MS = 120_000;

/** The script of the guide, for a primary of this test. */
function guideScript({ place, keyFile, copy, whole }: DynamicPrimary): string {
  const text = /```text title="update-zone.sh"\n(?<script>[^`]*)```/.exec(
    readFileSync(GUIDE, "utf8"),
  )?.groups?.["script"];
  const replaced = text!
    .replace("/etc/bind/rules.key", keyFile)
    .replace("own=/var/lib/bind/rpz.local", `own=${copy}`)
    .replace("-p 53", `-p ${place.port}`)
    .replace(/^ *rndc freeze.*$/m, whole);
  assert.ok(replaced.includes(whole) && replaced.includes(keyFile) && replaced.includes(copy));
  const path = join(place.folder, "update-zone.sh");
  writeFileSync(path, replaced);
  chmodSync(path, 0o755);
  return path;
}

/** A project with a zone for each primary, which both have the same records. */
class Zones {
  readonly project: DiskProject;
  readonly random = new Random(2136);
  names: string[];
  private next = NAMES;
  private readonly context: TestContext;
  readonly ports: readonly number[];

  constructor(context: TestContext, ports: readonly number[]) {
    this.context = context;
    this.project = new DiskProject(context);
    this.ports = ports;
    this.names = Array.from({ length: NAMES }, (_, index) => nameOf(index));
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
    this.project.write("c.json", JSON.stringify(config));
  }

  file(index: number): string {
    return join(this.project.folder, "rules", `zone${index}`);
  }

  /** Replaces some names, and publishes. Some get an exception below, which changes records of the same name. */
  async publish(changed: number): Promise<string> {
    const { random } = this;
    for (let count = 0; count < changed; count++)
      this.names[random.below(this.names.length)] = nameOf(this.next++);
    const exceptions = random.times(3, () => `@@||free.${random.pick(this.names)}^`);
    const rules = [...this.names.map((name) => `||${name}^`), ...exceptions];
    this.project.write("own.txt", `${rules.join("\n")}\n`);
    const { exit, stderr } = await this.project.run("-c", "c.json", "--no-cache", "--no-record");
    assert.equal(exit, 0, stderr);
    return stderr;
  }

  /** Starts both primaries with the published zones. */
  async start(): Promise<DynamicPrimary[]> {
    const primaries = (["BIND", "Knot DNS"] as const).map((name, index) => {
      const place = {
        folder: join(this.project.folder, `primary${index}`),
        port: this.ports[index]!,
      };
      const primary = startPrimary(name, place, this.file(index));
      this.context.after(() => primary.child.kill("SIGKILL"));
      return primary;
    });
    await this.isEverywhere(primaries);
    return primaries;
  }

  /** Waits until the primaries serve the zone of the file. */
  async isEverywhere(primaries: readonly DynamicPrimary[]): Promise<void> {
    for (const [index, primary] of primaries.entries()) {
      const wanted = recordsOf(readFileSync(this.file(index), "utf8"));
      const began = Date.now();
      for (;;) {
        const records = transferred(primary);
        if (records?.join("\n") === wanted.join("\n")) break;
        if (Date.now() - began > PATIENCE_MS) {
          const shown = new Set(records);
          const missing = wanted.filter((one) => !shown.has(one));
          assert.fail(
            `${primary.name}: ${missing.slice(0, 3).join("; ")}\n${primary.log().slice(-3000)}`,
          );
        }
        await sleep(100);
      }
    }
  }
}

function nameOf(index: number): string {
  return `${"abcdefgh"[index % 8]}${(index * 7919).toString(36)}.d${index % 997}.example`;
}

function serialOf(text: string): string {
  return / SOA \S+ \S+ (?<serial>\d+)/.exec(text)?.groups?.["serial"] ?? "";
}

test(
  `${ROUNDS} updates in a row end with the zone of the file, in BIND and Knot DNS`,
  { timeout: 1_800_000 },
  async (context) => {
    const zones = new Zones(context, [await freeTcpPort(), await freeTcpPort()]);
    assert.match(
      await zones.publish(0),
      /updates: the whole zone, because it has no earlier version/,
    );
    const primaries = await zones.start();
    const scripts = primaries.map(guideScript);
    const { random } = zones;
    const seen = { script: 0, killed: 0, missed: 0, large: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      // The primaries miss a version: the next script is not for the zone that they have.
      const isMissed = round % 8 === 4;
      if (isMissed) await zones.publish(10);
      const isLarge = round % 8 === 7;
      const said = await zones.publish(isLarge ? NAMES / 2 : 1 + random.below(NAMES / 10));
      assert.match(
        said,
        isLarge ? /because a large part of it changed/ : /updates: [\d,]+ records in/,
      );
      for (const [index, primary] of primaries.entries()) {
        const script = `${zones.file(index)}.nsupdate`;
        const before = served(primary);
        const words = ["-v", "-k", primary.keyFile, script];
        if (isMissed) {
          assert.notEqual(
            await run("nsupdate", words),
            0,
            "a script for another version is refused",
          );
          assert.deepEqual(served(primary), before);
          seen.missed++;
        } else if (isLarge) seen.large++;
        else if (round % 4 === 1) {
          await killed(words, random.below(25));
          seen.killed++;
        } else {
          assert.equal(await run("nsupdate", words), 0, `${primary.name} takes it`);
          assert.equal(
            serialOf(served(primary)),
            serialOf(readFileSync(zones.file(index), "utf8")),
          );
          seen.script++;
        }
        assert.equal(await run(scripts[index]!, [zones.file(index)]), 0);
      }
      await zones.isEverywhere(primaries);
    }
    context.diagnostic(`two primaries: ${JSON.stringify(seen)}`);
    assert.ok(Object.values(seen).every((count) => count > 0));
  },
);

test(
  "a script that stopped after any message ends in the same zone",
  { timeout: 900_000 },
  async (context) => {
    const zones = new Zones(context, [await freeTcpPort(), await freeTcpPort()]);
    await zones.publish(0);
    const primaries = await zones.start();
    for (let round = 0; round < (isNightly ? 20 : 2); round++) {
      await zones.publish(NAMES * 0.116);
      for (const [index, primary] of primaries.entries()) {
        const path = `${zones.file(index)}.nsupdate`;
        const messages = readFileSync(path, "utf8").split(/(?<=^send\n)/m);
        assert.ok(messages.length > 1, "several messages");
        const part = join(primary.place.folder, "part");
        const count = 1 + zones.random.below(messages.length - 1);
        writeFileSync(part, messages.slice(0, count).join(""));
        assert.equal(await run("nsupdate", ["-v", "-k", primary.keyFile, part]), 0);
        assert.notEqual(
          serialOf(served(primary)),
          serialOf(readFileSync(zones.file(index), "utf8")),
        );
        // What was applied is refused, and the rest follows.
        await run("nsupdate", ["-v", "-k", primary.keyFile, path]);
      }
      await zones.isEverywhere(primaries);
    }
  },
);

function served({ place }: DynamicPrimary): string {
  const words = ["+noall", "+answer", "@127.0.0.1", "-p", String(place.port), "rpz.local", "SOA"];
  return execFileSync("dig", words, { encoding: "utf8" }).replace(/\s+/g, " ");
}

/** The exit code of a program. The event loop goes on: a server whose log is not read would stop. */
async function run(program: string, words: readonly string[]): Promise<number | null> {
  const child = spawn(program, words, { stdio: "ignore" });
  return await new Promise((end) => child.once("exit", end));
}

/** Starts `nsupdate` and kills it after some milliseconds. */
async function killed(words: readonly string[], ms: number): Promise<void> {
  const child = spawn("nsupdate", words, { stdio: "ignore" });
  const ended = new Promise((end) => child.once("exit", end));
  await Promise.race([ended, sleep(ms)]);
  child.kill("SIGKILL");
  await ended;
}
