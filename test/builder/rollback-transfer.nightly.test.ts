import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { missingCorpus } from "../support/corpus.ts";
import { isNightly } from "../support/nightly.ts";
import { compileFor } from "../support/resolvers/compiled-for.ts";
import { startUpstream } from "../support/resolvers/dns-client.ts";
import { type Follower, follow, isAt, transfers, until } from "../support/resolvers/followers.ts";
import { realNames } from "../support/resolvers/real-names.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import {
  primaryCommand,
  reload,
  startServer,
  whileNotifying,
} from "../support/resolvers/zone-servers.ts";

const RULES = 100_000;
const CHANGED = 1000;
const ROUNDS = isNightly ? 10 : 3;
const LIMIT_MS = 10_000;

function serialOf(zone: string): number {
  const [, serial] = /SOA \S+ \S+ (\d+)/.exec(readFileSync(zone, "latin1").slice(0, 5000))!;
  return Number(serial);
}

test(
  "a rollback reaches four different secondaries as a difference, within ten seconds",
  { timeout: 600_000, skip: missingCorpus },
  async (context) => {
    const root = mkdtempSync(join(tmpdir(), "rollback-"));
    context.after(() => rmSync(root, { recursive: true }));
    const pool = realNames(RULES + CHANGED, 0).listed;
    const common = pool.slice(0, RULES - CHANGED);
    const old = pool.slice(RULES - CHANGED, RULES);
    const young = pool.slice(RULES);
    const publish = (own: readonly string[]): string => {
      const lines = [...common, ...own].map((name) => `||${name}^`);
      return compileFor("rpz", lines, root).list;
    };
    const zone = publish(old);
    const upstream = await startUpstream();
    context.after(() => upstream.close());
    const place = { folder: join(root, "primary"), port: await freeTcpPort() };
    const servers = { primary: place.port, upstream: upstream.port };
    const followers = await follow(context, root, servers);
    const listeners = followers.map((one) => ({ port: one.place.port, how: one.secondary.notify }));
    const primary = startServer(primaryCommand(place, zone, listeners));
    context.after(() => primary.child.kill("SIGKILL"));
    const allAt = async (blocked: readonly string[], passed: readonly string[]): Promise<number> =>
      Math.max(
        ...(await Promise.all(
          followers.map((one: Follower) =>
            until(
              () => `${one.secondary.name} has the build: ${one.server.log().slice(-1500)}`,
              async () =>
                (await isAt(one, blocked.slice(-1), passed.slice(-1))) &&
                (await isAt(one, blocked, passed)),
            ),
          ),
        )),
      );
    await whileNotifying(place, () => allAt([...common.slice(0, 10), ...old], young));
    const before = transfers(place.folder).length;
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      publish(young);
      reload(place);
      await allAt(young, old);
      const serial = serialOf(zone);
      const words = ["rollback", "-c", "c.json"];
      const env = { ...process.env, RULES_DIR: root };
      execFileSync(process.execPath, [PROGRAM, ...words], { cwd: root, env, stdio: "pipe" });
      assert.ok(serialOf(zone) > serial, "the serial rises");
      reload(place);
      times.push(await allAt(old, young));
    }
    const sent = transfers(place.folder).slice(before);
    const differences = sent.filter(({ kind }) => kind === "IXFR").length;
    context.diagnostic(
      `${ROUNDS} rollbacks: at most ${Math.max(...times)} ms from the reload to the last of ${followers.length} secondaries; ${differences} of ${sent.length} transfers were differences`,
    );
    assert.ok(differences >= 2 * ROUNDS * (followers.length - 1), "differences, not whole zones");
    assert.ok(Math.max(...times) <= LIMIT_MS, `${Math.max(...times)} ms`);
  },
);
