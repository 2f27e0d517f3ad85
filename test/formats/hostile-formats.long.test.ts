import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { OUTPUT_FORMATS } from "../../src/config/outputs.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { Random } from "../support/random.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { Running, isMissing, runCheck, servers } from "../support/resolvers/servers.ts";
import { freeTcpPort, squidConf } from "../support/resolvers/squid.ts";
import { isNightly } from "../support/nightly.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const PIECES = [
  "a",
  "ads",
  "example",
  "com",
  ".",
  "..",
  "-",
  "_",
  " ",
  "\t",
  '"',
  "'",
  "\\",
  "/",
  "//",
  "|",
  "||",
  "^",
  "$",
  "@@",
  "*",
  "*.",
  "#",
  "!",
  ";",
  ":",
  ",",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  "%",
  "%s",
  "\u0000",
  "\u001b[31m",
  "\u007f",
  "é",
  "中文",
  "xn--",
  "xn--ls8h",
  "\u202e",
  "😀",
  "x".repeat(63),
  "x".repeat(64),
  "x".repeat(300),
  "0.0.0.0 ",
  "127.0.0.1 ",
  ":: ",
  "address=/",
  "server=/",
  "local-zone: ",
  "CNAME .",
  "$ORIGIN .",
  "$INCLUDE /etc/passwd",
  "include: /etc/passwd",
  "conf-file=/etc/passwd",
  "os.execute('x')",
  "localhost",
  "1.2.3.4",
  "0",
  "ff02::1",
];
const CANARY = "good-canary.zqzq";
const CONTROL = "control-4711.net";
const KNOWN = [`||${CANARY}^`, `@@||allowed.${CANARY}^`];

/** Lines that no list should have, and some that look nearly right. */
function hostileLines(count: number): string[] {
  const random = new Random(666);
  return Array.from({ length: count }, () => {
    const text = Array.from({ length: 1 + random.below(7) }, () => random.pick(PIECES)).join("");
    return random
      .pick(["%", "||%^", "||%.com^", "@@||%^", "0.0.0.0 %", "|%^", "||*.%^", "||%^$important"])
      .replace("%", () => text);
  }).filter(
    (line) => !line.includes("\u0000") && !line.trim().startsWith("!#") && !isForEveryName(line),
  );
}

/** `@@||*^` rightly frees the canary, and `||*^` rightly blocks the control: nothing could be told from them. */
function isForEveryName(line: string): boolean {
  const list = new ListMatcher([line]);
  return [CANARY, CONTROL].some((name) => list.decide(name).meaning !== "neither");
}

function configOf(transformations: readonly string[]): string {
  return JSON.stringify({
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    transformations,
    outputs: OUTPUT_FORMATS.map((format) => ({
      format,
      file: `of-${format}`,
    })),
  });
}

test(
  "every format loads in its software, whatever a source contains",
  { timeout: 900_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "hostile-"));
    chmodSync(folder, 0o777);
    context.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(
      join(folder, "own.txt"),
      `${[...KNOWN, ...hostileLines(isNightly ? 20_000 : 4000)].join("\n")}\n`,
    );
    const upstream = await startUpstream();
    context.after(() => upstream.close());
    for (const transformations of [[], ["Compress", "Deduplicate", "InsertFinalNewLine"]]) {
      writeFileSync(join(folder, "c.json"), configOf(transformations));
      const accept = [
        "blocks-protected",
        "blocks-suffix",
        "source-shrunk",
        "source-replaced",
      ].flatMap((guard) => ["--accept", guard]);
      execFileSync(process.execPath, [BIN, "-q", "-c", "c.json", "--no-cache", ...accept], {
        cwd: folder,
        env: { ...process.env, RULES_DIR: folder },
      });
      for (const [name, server] of servers) {
        if (isMissing(name) !== false) continue;
        const [list, allow] = [`of-${server.format}`, `of-${server.format}.allow`].map((file) =>
          join(folder, file),
        ) as [string, string];
        const setting = { folder, upstream: upstream.port, list, allow };
        if (server.check !== undefined) {
          const { status, said } = runCheck(server.check({ ...setting, port: 53 }));
          assert.equal(status, 0, `${name}: ${said.slice(0, 600)}`);
          if (server.complaint !== undefined) assert.doesNotMatch(said, server.complaint, name);
        }
        const running = await Running.start(server, setting);
        const began = Date.now();
        for (;;) {
          const [canary, control] = await askAll(
            running.port,
            [CANARY, CONTROL].map((one) => one + (server.suffix ?? "")),
          );
          const isBlocked = canary === (server.isInverted === true ? "listed" : "blocked");
          const isPassed = control === (server.isInverted === true ? "blocked" : "passed");
          if (isBlocked && isPassed) break;
          assert.equal(running.child.exitCode, null, `${name}: ${running.log}`);
          assert.ok(Date.now() - began < 20_000, `${name}: ${canary}, ${control}\n${running.log}`);
          await new Promise((later) => setTimeout(later, 50));
        }
        await running.stop();
      }
      const conf = squidConf(
        folder,
        await freeTcpPort(),
        await freeTcpPort(),
        1,
        join(folder, "of-squid"),
        join(folder, "of-squid.allow"),
      );
      const { status, said } = runCheck(["squid", "-k", "parse", "-f", conf]);
      assert.equal(status, 0, said);
      assert.doesNotMatch(said, /ERROR/);
      for (const zone of [
        ["nsd-checkzone", "rpz.local"],
        ["named-checkzone", "-k", "ignore", "rpz.local"],
      ])
        assert.equal(runCheck([...zone, join(folder, "of-rpz")]).status, 0);
      JSON.parse(readFileSync(join(folder, "of-json"), "utf8"));
    }
  },
);
