import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { Random } from "../support/random.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { Running, type Server, isMissing } from "../support/resolvers/servers.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const LISTS = ["It's 1", "Two", "Three", "Four", "Five", "Six"];
const SHAPES = ["||%^", "||%^", "|%^", "||*.%^", "@@||%^", "@@|%^", "||%^$important"];
const DEADLINE_MS = 60_000;

function nameOf(random: Random): string {
  const labels = Array.from({ length: random.below(4) }, () => random.pick(["a", "b", "c"]));
  return [...labels, `set${random.below(40)}`, "zq"].join(".");
}

/** Each group of clients has a port of its own here. */
function serverOf(groups: readonly (readonly string[])[]): Server {
  return {
    format: "cdb",
    start: ({ folder, port, upstream }) => {
      const rules = groups.map((lists, group) => {
        const names = lists.map((list) => `"${list}"`).join(", ");
        return `addAction(AndRule({ DSTPortRule(${port + group}), lists.blocks(${names}) }), RCodeAction(DNSRCode.NXDOMAIN))`;
      });
      const ports = groups.map((_, group) => `addLocal('127.0.0.1:${port + group}')`);
      const path = join(folder, "dnsdist.conf");
      const lines = [
        `setLocal('127.0.0.1:${port + groups.length}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')`,
        ...ports,
        `newServer({ address = '127.0.0.1:${upstream}', healthCheckMode = 'up' })`,
        "local lists = dofile('rules/all.cdb.lua')",
        ...rules,
      ];
      writeFileSync(path, `${lines.join("\n")}\n`);
      return ["dnsdist", "--supervised", "--disable-syslog", "-C", path];
    },
  };
}

function combinations(lists: readonly string[]): string[][] {
  return Array.from({ length: 2 ** lists.length - 1 }, (_, index) =>
    lists.filter((_list, bit) => (((index + 1) >> bit) & 1) === 1),
  );
}

for (const [lists, groups] of [
  [LISTS.slice(0, 4), combinations(LISTS.slice(0, 4))],
  [LISTS, [["Six"], ["It's 1", "Five"], LISTS]],
] as const)
  test(
    `one database of ${lists.length} lists answers for every group of clients, and is read again without a restart`,
    { skip: isMissing("dnsdist") },
    async (context) => {
      const folder = mkdtempSync(join(tmpdir(), "dnsdist-lists-"));
      chmodSync(folder, 0o755);
      context.after(() => rmSync(folder, { recursive: true }));
      const random = new Random(lists.length);
      const texts = lists.map(() =>
        Array.from({ length: 150 }, () => random.pick(SHAPES).replace("%", nameOf(random))),
      );
      for (const [index, text] of texts.entries())
        writeFileSync(join(folder, `${index}.txt`), `${text.join("\n")}\n`);
      const config = {
        name: "Ours",
        sources: lists.map((name, index) => ({ name, source: `${index}.txt`, type: "adblock" })),
        combined: [{ format: "cdb", file: "all.cdb" }],
        lists: lists.map((name) => ({ name, sources: [name] })),
      };
      writeFileSync(join(folder, "c.json"), JSON.stringify(config));
      const compile = (): unknown =>
        execFileSync(process.execPath, [BIN, "-q", "-c", "c.json", "--no-cache"], { cwd: folder });
      compile();
      const upstream = await startUpstream();
      context.after(() => upstream.close());
      const setting = { folder, upstream: upstream.port, list: "", allow: "" };
      const running = await Running.start(serverOf(groups), setting);
      context.after(() => running.stop());
      const until = async (port: number, name: string, wanted: string): Promise<void> => {
        for (const began = Date.now(); (await askAll(port, [name]))[0] !== wanted;) {
          assert.equal(running.child.exitCode, null, running.log);
          assert.ok(Date.now() - began < DEADLINE_MS, `${name} is not ${wanted}: ${running.log}`);
          await new Promise((later) => setTimeout(later, 50));
        }
      };
      const check = async (): Promise<void> => {
        const naive = texts.map((text) => new NaiveNames(text.join("\n")));
        const names = Array.from({ length: 400 }, () => nameOf(random));
        for (const [group, chosen] of groups.entries()) {
          const answers = await askAll(running.port + group, names);
          const wrong = names.filter((name, index) => {
            const isBlocked = chosen.some((list) => naive[lists.indexOf(list)]!.isBlocked(name));
            return answers[index] !== (isBlocked ? "blocked" : "passed");
          });
          assert.deepEqual(wrong, [], `${chosen.join()}: ${running.log}`);
        }
      };
      await until(running.port, "control.example", "passed");
      await check();
      const last = lists.length - 1;
      texts[last]!.push("||fresh.example^", "@@||set1.zq^$important");
      appendFileSync(join(folder, `${last}.txt`), `${texts[last]!.slice(-2).join("\n")}\n`);
      compile();
      const withLast = groups.findIndex((group) =>
        (group as readonly string[]).includes(lists[last]!),
      );
      await until(running.port + withLast, "fresh.example", "blocked");
      await check();
    },
  );
