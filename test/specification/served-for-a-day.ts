import { run } from "../../src/cli/main.ts";
import type { Host, ListenAddress, WebReply } from "../../src/host/host.ts";
import { memoryHost } from "../support/internals.ts";
import { BUILT } from "../support/built-document.ts";

export const HOUR = 3_600_000;

export interface ServedDay {
  /** Where it listened. */
  readonly listenOn: ListenAddress;
  /** When each compile began, in Unix time. */
  readonly runs: readonly number[];
  /** What it answered at the end of the day. */
  readonly health: WebReply;
}

/** `serve` in memory, with a clock that jumps to the next event, and compiles that take no time. */
export async function servedForADay(): Promise<ServedDay> {
  const config = { name: "n", sources: [{ name: "a", source: "a.txt", type: "adblock" }] };
  const memory = memoryHost({
    files: {
      "compiler-config.json": JSON.stringify(config),
      "a.txt": "||a.example^\n",
      "rules/n.txt": "||a.example^\n",
    },
  });
  const stop = new AbortController();
  const began = Date.parse("2026-11-15T01:00:00Z");
  let now = began;
  const runs: number[] = [];
  let listenOn: ListenAddress | undefined;
  let health: WebReply | undefined;
  let answer: Parameters<NonNullable<Host["listen"]>>[1] | undefined;
  const host: Host = {
    ...memory,
    now: () => new Date(now),
    runSelf: async ({ words: [command] }) => {
      if (command === "compile") runs.push(now);
      return { exit: 0, stdout: JSON.stringify(BUILT) };
    },
    wait: async (ms) => {
      now += ms;
      // Other work has its turn.
      await new Promise((turned) => setImmediate(turned));
      if (now < began + 24 * HOUR || stop.signal.aborted) return;
      const request = { method: "GET", target: "/health", headers: {}, address: "127.0.0.1" };
      health = await answer!(request);
      stop.abort();
    },
    listen: async (place, given) => {
      listenOn = place;
      answer = given;
      return { address: place.address, port: place.port, close: async () => {} };
    },
  };
  await run(["serve", "--json"], host, stop.signal);
  return { listenOn: listenOn!, runs, health: health! };
}
