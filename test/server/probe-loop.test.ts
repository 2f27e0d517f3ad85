import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_STYLE } from "../../src/diagnostics/render.ts";
import type { Host } from "../../src/host/host.ts";
import { BearerToken } from "../../src/server/requests.ts";
import { Schedule } from "../../src/server/runs.ts";
import { EventLog, serve } from "../../src/server/serve.ts";
import { memoryHost } from "../support/internals.ts";

class BrokenSchedule extends Schedule {
  override next(): number {
    throw new Error("a bug");
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A server whose resolvers cannot be asked, and how often it tried. */
function serverWith(
  schedule: Schedule,
  signal: AbortSignal,
): { ended: Promise<unknown>; rounds: () => number; stderr: () => string } {
  const memory = memoryHost({ files: {}, now: new Date("2026-11-15T12:00:00Z") });
  const host: Host = {
    ...memory,
    wait: turn,
    listen: async ({ address, port }) => ({ address, port, close: async () => {} }),
  };
  let rounds = 0;
  const settings = {
    listenOn: { address: "127.0.0.1", port: 0, connectionsPerClient: 64 },
    schedule,
    jitterMs: 0,
    retryMs: 0,
    requests: {
      listNames: ["N"],
      resolvers: [],
      token: new BearerToken("0123456789abcdef"),
      hostNames: [],
      act: async () => ({ exit: 0, problems: [] }),
      why: async () => [],
    },
    ownToken: undefined,
    hooks: [],
    runTimeoutMs: 0,
    folder: "/project/rules/.rules-compiler",
    lists: ["/project/rules/n.txt"],
    outputs: [],
    partsOf: async (path: string) => [path],
    compile: async () => ({ exit: 0, build: undefined }),
    published: async () => [],
    held: async () => [],
    proofs: async () => [],
    probe: async () => {
      rounds++;
      throw new Error("its state is of a newer version");
    },
    conditions: async () => [],
    reports: [],
    report: async () => {},
  };
  const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => true });
  const ended = serve(settings, host, log, signal).catch((error: unknown) => error);
  return { ended, rounds: () => rounds, stderr: () => memory.output.stderr };
}

test("a problem of asking resolvers is logged once", async () => {
  const stop = new AbortController();
  const server = serverWith(new Schedule("0 6 * * *", "UTC"), stop.signal);
  while (server.rounds() < 5) await turn();
  stop.abort();
  await server.ended;
  assert.equal(server.stderr().match(/"not-asked"/g)?.length, 1, server.stderr());
});

test("a server that ends by a bug asks no resolver any more", async () => {
  const stop = new AbortController();
  const server = serverWith(new BrokenSchedule("0 6 * * *", "UTC"), stop.signal);
  assert.match(String(await server.ended), /a bug/);
  const before = server.rounds();
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.ok(server.rounds() <= before + 1);
  stop.abort();
});
