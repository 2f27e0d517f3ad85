import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../src/host/host.ts";
import { ServedInMemory } from "../support/served-in-memory.ts";

const CONFIG = { name: "Home", sources: [{ source: "a.txt" }] };
const HOLD = "/project/rules/.rules-compiler/home.txt.hold.json";

async function reason(served: ServedInMemory): Promise<string> {
  return (JSON.parse((await served.ask("/health")).text) as { reason: string }).reason;
}

test("a state that cannot be read is logged once, and /health says so until it can", async (context) => {
  const served = new ServedInMemory(context, CONFIG, ["||a.example^"]);
  await served.start();
  assert.doesNotMatch(await reason(served), /cannot be read/);
  served.memory.files.set(HOLD, new TextEncoder().encode('{"version":9}'));
  for (let times = 0; times < 4; times++) await reason(served);
  assert.match(await reason(served), /; cannot be read: held lists$/);
  const [event, ...further] = served.events("not-read");
  assert.deepEqual([event!["level"], event!["what"]], ["error", "held lists"]);
  assert.match(String(event!["reason"]), /was written by a newer rules-compiler/);
  assert.equal(further.length, 0);
  served.memory.files.delete(HOLD);
  await reason(served);
  assert.doesNotMatch(await reason(served), /cannot be read/);
});

test("errors of answers are logged, and counted by their route", async (context) => {
  const served = new ServedInMemory(context, CONFIG, ["||a.example^"]);
  await served.start();
  for (const [target, header] of [
    ["/health?x=1", "host"],
    ["/why?name=a.example", "accept"],
  ] as const) {
    const headers = Object.defineProperty({}, header, {
      get: () => {
        throw new TypeError(`a bug with ${header}`);
      },
    });
    const reply = await served.request({ method: "GET", target, headers, address: "127.0.0.1" });
    assert.deepEqual([reply.status, reply.body], [500, "internal error\n"]);
  }
  const said = served.events("request-failed").map((one) => [one["target"], one["reason"]]);
  assert.deepEqual(said, [
    ["/health", "a bug with host"],
    ["/why", "a bug with accept"],
  ]);
  const { text } = await served.ask("/metrics");
  for (const route of ["other", "why"])
    assert.match(text, new RegExp(`http_requests_total\\{route="${route}",code="500"\\} 1`));
});

test("a question that cannot be answered is in the log", async (context) => {
  const served = new ServedInMemory(context, CONFIG, ["||a.example^"]);
  await served.start();
  served.childError = new HostError("ENOMEM", "no memory");
  assert.equal((await served.ask("/why?name=a.example")).status, 500);
  assert.match(String(served.events("not-answered")[0]?.["reason"]), /no memory/);
  assert.equal((await served.ask("/hold", "POST")).status, 500);
  assert.match(String(served.events("action")[0]?.["message"]), /no memory/);
});
