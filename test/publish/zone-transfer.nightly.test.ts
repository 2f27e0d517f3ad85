import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { missingCorpus } from "../support/corpus.ts";
import { compileFor } from "../support/resolvers/compiled-for.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { follow, isAt, transfers, until } from "../support/resolvers/followers.ts";
import { realNames } from "../support/resolvers/real-names.ts";
import { Running, servers } from "../support/resolvers/servers.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import {
  primaryCommand,
  reload,
  startServer,
  whileNotifying,
} from "../support/resolvers/zone-servers.ts";
import { isNightly } from "../support/nightly.ts";

const RULES = 200_000;
const CHANGED = 2000;
const PUBLISHES = isNightly ? 50 : 8;

test(
  "a publish reaches four different secondaries as a difference",
  { timeout: 900_000, skip: missingCorpus },
  async (context) => {
    const root = mkdtempSync(join(tmpdir(), "zone-"));
    context.after(() => rmSync(root, { recursive: true }));
    const pool = realNames(RULES + CHANGED * (PUBLISHES + 1), 0).listed;
    let current = pool.slice(0, RULES);
    const publish = (): string =>
      compileFor(
        "rpz",
        current.map((name) => `||${name}^`),
        root,
      ).list;
    const zone = publish();
    const upstream = await startUpstream();
    context.after(() => upstream.close());
    const place = { folder: join(root, "primary"), port: await freeTcpPort() };
    const followers = await follow(context, root, {
      primary: place.port,
      upstream: upstream.port,
    });
    const listeners = followers.map((one) => ({ port: one.place.port, how: one.secondary.notify }));
    const primary = startServer(primaryCommand(place, zone, listeners));
    context.after(() => primary.child.kill("SIGKILL"));
    await whileNotifying(place, async () => {
      for (const one of followers)
        await until(
          () =>
            `${one.secondary.name} has the zone: ${one.server.log().slice(-1500)}\n${primary.log().slice(-1500)}`,
          async () => await isAt(one, [current[0]!, current.at(-1)!], ["control.example"]),
        );
    });
    const full = Math.max(...transfers(place.folder).map(({ bytes }) => bytes));
    const before = transfers(place.folder).length;
    for (let round = 0; round < PUBLISHES; round++) {
      const added = pool.slice(RULES + round * CHANGED, RULES + (round + 1) * CHANGED);
      const removed = current.slice(0, CHANGED);
      current = [...current.slice(CHANGED), ...added];
      publish();
      // One that was down catches up when it is back.
      const isDown = round === Math.floor(PUBLISHES / 2);
      if (isDown) followers[0]!.server.child.kill("SIGKILL");
      reload(place);
      if (isDown) {
        const { secondary, place: own } = followers[0]!;
        followers[0]!.server = startServer(secondary.start(own, place.port, upstream.port));
      }
      const began = Date.now();
      for (const one of followers) {
        const shown = `${one.secondary.name} follows publish ${round}`;
        await until(
          shown,
          async () => await isAt(one, [added.at(-1)!, added[0]!], [removed.at(-1)!, removed[0]!]),
        );
        await until(shown, async () => await isAt(one, added, removed));
        one.times.push(Date.now() - began);
      }
    }
    const sent = transfers(place.folder).slice(before);
    const ixfr = sent.filter(({ kind }) => kind === "IXFR");
    const most = Math.max(...ixfr.map(({ bytes }) => bytes));
    context.diagnostic(
      `full transfer ${full} bytes; ${sent.length} transfers, ${ixfr.length} of them differences of at most ${most} bytes (${((most / full) * 100).toFixed(1)} %)`,
    );
    for (const { secondary, times } of followers) {
      const sorted = times.toSorted((a, b) => a - b);
      context.diagnostic(
        `${secondary.name}: ${sorted[sorted.length >> 1]} ms after the reload in the median, ${sorted.at(-1)} at most`,
      );
    }
    for (const one of followers)
      assert.ok(
        await isAt(one, current, pool.slice(0, CHANGED)),
        `${one.secondary.name} has all of it`,
      );
    assert.ok(ixfr.length >= PUBLISHES * (followers.length - 1), "differences, not whole zones");
    assert.ok(most <= full * 0.05, "a difference is at most a twentieth of the zone");
    await resolverOfFile(context, root, followers[2]!.place.folder, upstream.port, current);
  },
);

/** Knot Resolver reads the file that Knot DNS keeps. */
// oxlint-disable-next-line max-params -- what a server is configured with
async function resolverOfFile(
  context: TestContext,
  root: string,
  folder: string,
  upstream: number,
  names: readonly string[],
): Promise<void> {
  const kresd = servers.get("Knot Resolver")!;
  const list = join(folder, "zone");
  const running = await Running.start(kresd, { folder: root, upstream, list, allow: "" });
  context.after(() => running.stop());
  await until(
    () => `Knot Resolver reads the file: ${running.log}`,
    async () => (await askAll(running.port, [names.at(-1)!]))[0] === "blocked",
  );
  assert.ok((await askAll(running.port, names)).every((said) => said === "blocked"));
}
