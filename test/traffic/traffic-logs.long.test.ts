import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Host } from "../../src/host/host.ts";
import { TrafficReader } from "../../src/traffic/traffic-reader.ts";
import { nodeHost } from "../support/internals.ts";
import { Random } from "../support/random.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { until } from "../support/resolvers/followers.ts";
import { loggingServers } from "../support/resolvers/logging.ts";
import { freePort } from "../support/resolvers/servers.ts";
import { startServer } from "../support/resolvers/zone-servers.ts";

const QUERIES = 3000;
/** Asked until the server answers; not part of what is compared. */
const FIRST = "first.example";

function outputOf(printer: string, path: string): NonNullable<Host["stdin"]> {
  return {
    lines: () => assert.fail("not read as lines"),
    bytes: () => spawn(printer, [path], { stdio: ["ignore", "pipe", "inherit"] }).stdout,
  };
}

/** With a program that prints the log, its output is piped in. */
async function countsOf(
  path: string,
  printer: string | undefined,
): Promise<{ counts: Map<string, number>; format: string; clients: string[] }> {
  const counts = new Map<string, number>();
  const host =
    printer === undefined ? nodeHost() : { ...nodeHost(), stdin: outputOf(printer, path) };
  const reader = new TrafficReader([printer === undefined ? path : "-"], host, {
    mostNames: 100,
    byClient: true,
  });
  const clients = new Set<string>();
  for await (const batch of reader.batches())
    for (const [name, count, client] of batch) {
      counts.set(name, (counts.get(name) ?? 0) + count);
      clients.add(client);
    }
  return { counts, format: reader.files[0]!.format, clients: [...clients] };
}

for (const [name, logging] of loggingServers)
  test(`the log of a real ${name} has every query that was asked`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "traffic-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const upstream = await startUpstream();
    context.after(() => upstream.close());
    const port = await freePort();
    const server = startServer(logging.start({ folder, port, upstream: upstream.port }));
    context.after(() => server.child.kill("SIGKILL"));
    await until(`${name} answers`, async () => (await askAll(port, [FIRST]))[0] === "passed");
    const random = new Random(7);
    const asked = Array.from({ length: QUERIES }, () => {
      const labels = Array.from({ length: random.below(3) }, () =>
        random.pick(["www", "A", "x_1", "query", `n${random.below(500)}`]),
      );
      return [...labels, random.pick(["one.example", "Two.example", "xn--bcher-kva.example"])].join(
        ".",
      );
    });
    // Few at a time, so that no query is lost and asked again.
    const answers = await askAll(port, asked, 8);
    assert.ok(answers.every((said) => said === "passed"));
    const expected = new Map<string, number>();
    for (const one of asked.map((text) => text.toLowerCase()))
      expected.set(one, (expected.get(one) ?? 0) + 1);
    const log = join(folder, "queries.log");
    const sum = (counts: ReadonlyMap<string, number>): number =>
      [...counts].reduce((all, [one, count]) => all + (one === FIRST ? 0 : count), 0);
    // Servers buffer what they log; the end writes the rest.
    server.child.kill("SIGTERM");
    await new Promise<void>((ended) => {
      if (server.child.exitCode !== null || server.child.signalCode !== null) ended();
      else server.child.once("close", () => ended());
    });
    const found = await countsOf(log, logging.printer);
    assert.equal(found.format, logging.format);
    assert.deepEqual(found.clients, ["127.0.0.1"]);
    found.counts.delete(FIRST);
    assert.deepEqual(found.counts, expected, readFileSync(log, "utf8").slice(0, 1000));
    assert.equal(sum(found.counts), QUERIES);
  });
