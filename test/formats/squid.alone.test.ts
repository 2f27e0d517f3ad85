import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { squid } from "../../src/formats/formats.ts";
import { missingCorpus } from "../support/corpus.ts";
import { Random } from "../support/random.ts";
import { compileFor } from "../support/resolvers/compiled-for.ts";
import { askAll } from "../support/resolvers/dns-client.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { realNames } from "../support/resolvers/real-names.ts";
import { anyRuleSets, randomRuleSets } from "../support/resolvers/rule-sets.ts";
import { runCheck } from "../support/resolvers/servers.ts";
import { ICP, askProxy, freeTcpPort, squidConf, startOrigin } from "../support/resolvers/squid.ts";

test(
  "squid answers correctly for listed names, subdomains, similar names and random rules",
  { timeout: 900_000, skip: missingCorpus },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "squid-"));
    // It goes on as somebody else.
    chmodSync(folder, 0o777);
    context.after(() => rmSync(folder, { recursive: true }));
    const { listed, controls } = realNames(200_000, 20_000);
    const sets = randomRuleSets(squid, new Random(7));
    const any = anyRuleSets(new Random(8));
    const allowed = listed.slice(0, 500).map((name) => `allowed.${name}`);
    const lines = [
      ...allowed.map((name) => `@@||${name}^`),
      ...sets.rules,
      ...listed.map((name) => `||${name}^`),
    ];
    assert.deepEqual(compileFor("squid", lines, folder).artifact.losses, []);
    const all = [...any.rules, ...lines];
    const { text, artifact, list, allow } = compileFor("squid", all, folder);
    const origin = await startOrigin();
    context.after(() => origin.close());
    const port = await freeTcpPort();
    const icpPort = await freeTcpPort();
    const conf = squidConf(folder, port, icpPort, origin.port, list, allow);
    const { status, said } = runCheck(["squid", "-k", "parse", "-f", conf]);
    assert.equal(status, 0, said);
    assert.doesNotMatch(said, /ERROR|WARNING.*subdomain/);
    const began = Date.now();
    const child = spawn("squid", ["-N", "-f", conf], { stdio: "ignore" });
    context.after(() => child.kill("SIGKILL"));
    for (;;) {
      const answers = await askProxy(port, [listed.at(-1)!, "control.example"], 1).catch(() => []);
      if (answers[0] === "blocked" && answers[1] === "passed") break;
      assert.ok(Date.now() - began < 60_000, `not ready: ${answers.join()}`);
      await new Promise((later) => setTimeout(later, 100));
    }
    const readyMs = Date.now() - began;
    const some = listed.filter((_, index) => index % 10 === 0);
    const asked = [
      ...listed,
      ...some.map((name) => `x9z.${name}`),
      ...some.map((name) => `zz9${name}`).filter((name) => /^[^.]{1,63}\./.test(name)),
      ...controls,
      ...allowed,
      ...sets.names,
      ...any.names,
    ];
    const isAny = new Set(any.names);
    const naive = new NaiveNames(text);
    const answers = await askAll(icpPort, asked, 16, ICP);
    const byHttp = asked.filter((_, index) => index % 100 === 0);
    const pages = await askProxy(port, byHttp);
    assert.deepEqual(
      pages,
      answers.filter((_, index) => index % 100 === 0),
      "pages are given and refused as it said",
    );
    // Of what it cannot say as it is meant, nothing more than that may be blocked.
    const wrong = asked.filter((name, index) =>
      naive.isBlocked(name)
        ? answers[index] !== "blocked" && !isAny.has(name)
        : answers[index] !== "passed",
    );
    context.diagnostic(
      `squid: ${artifact.names} names; ready after ${readyMs} ms; ${asked.length} requests in ${((Date.now() - began - readyMs) / 1000).toFixed(1)} s, ${wrong.length} wrong`,
    );
    const shown = wrong.slice(0, 10).map((name) => `${name}: ${answers[asked.indexOf(name)]}`);
    assert.equal(wrong.length, 0, shown.join("\n"));
  },
);
