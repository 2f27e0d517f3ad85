import type { WhyOfList } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import * as fc from "fast-check";
import { type ActionEnd, Actions } from "../../src/server/actions.ts";
import { EventLog } from "../../src/server/serve.ts";
import { NO_HISTORY } from "../../src/server/history.ts";
import { Runner } from "../../src/server/runs.ts";
import { type WhyEnd, WhyAnswers, type WhyQuestion } from "../../src/server/why.ts";
import { NO_STYLE } from "../../src/diagnostics/render.ts";
import { type Host, memoryHost } from "../support/internals.ts";
import { propertyRuns } from "../support/property.ts";

const NEVER = new AbortController().signal;
const ANSWER: readonly WhyOfList[] = [{ list: "Home", names: [] }];

interface Pending {
  readonly name: string;
  end(answer: readonly WhyOfList[]): void;
  fail(): void;
}

/** Questions that are answered when the test says so. */
class Desk {
  readonly pending: Pending[] = [];
  readonly errors: string[] = [];
  asked = 0;
  most = 0;
  version = "1";
  now = Date.parse("2026-11-16T00:00:00Z");
  private running = 0;
  readonly answers: WhyAnswers;

  constructor() {
    this.answers = new WhyAnswers({
      host: { ...memoryHost(), now: () => new Date(this.now) },
      signal: NEVER,
      resolvers: [],
      version: () => this.version,
      onError: (error) => this.errors.push((error as Error).message),
      answer: ({ name }: WhyQuestion) => {
        this.asked++;
        this.most = Math.max(this.most, ++this.running);
        return new Promise<readonly WhyOfList[]>((end, fail) => {
          this.pending.push({ name, end, fail: () => fail(new Error("broken")) });
        }).finally(() => this.running--);
      },
    });
  }

  ask(name: string, address = "192.0.2.1"): Promise<WhyEnd> {
    return this.answers.ask({ name }, address);
  }

  async endAll(): Promise<void> {
    for (await turn(); this.pending.length > 0; await turn()) this.pending.shift()!.end(ANSWER);
  }
}

test("two questions are answered at a time, four per client, and 16 wait", async () => {
  const desk = new Desk();
  const asked = Array.from({ length: 60 }, (_, at) =>
    desk.ask(`n${at}.example`, `192.0.2.${Math.floor(at / 6)}`),
  );
  const ends = Promise.all(asked);
  await desk.endAll();
  const counts = new Map<unknown, number>();
  for (const end of await ends) {
    const kind = typeof end === "string" ? end : "answered";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  assert.equal(desk.most, 2);
  assert.equal(counts.get("answered"), 18);
  // Of the first four clients, two questions each are too many; of the fifth, too; all later ones find no room.
  assert.equal(counts.get("busy-client"), 8);
  assert.equal(counts.get("busy"), 34);
  // All places are free again.
  const again = desk.ask("again.example");
  await desk.endAll();
  assert.deepEqual(await again, ANSWER);
});

test("addresses of one IPv6 network are one client", async () => {
  const desk = new Desk();
  const asked = Array.from({ length: 5 }, (_, at) => desk.ask(`n${at}.example`, `2001:db8::${at}`));
  const ends = Promise.all(asked);
  await desk.endAll();
  assert.equal((await ends).filter((end) => end === "busy-client").length, 1);
});

test("the same question is computed once per build and minute", async () => {
  const desk = new Desk();
  const same = Array.from({ length: 50 }, (_, at) => desk.ask("a.example", `192.0.2.${at}`));
  await desk.endAll();
  for (const end of await Promise.all(same)) assert.deepEqual(end, ANSWER);
  assert.equal(desk.asked, 1);
  const later = async (): Promise<void> => {
    const end = desk.ask("a.example");
    await desk.endAll();
    await end;
  };
  await later();
  assert.equal(desk.asked, 1);
  desk.version = "2";
  await later();
  assert.equal(desk.asked, 2, "another list was published");
  desk.now += 60_000;
  await later();
  assert.equal(desk.asked, 3, "a minute has passed");
  desk.now -= 3_600_000;
  await later();
  assert.equal(desk.asked, 4, "the clock was set back");
});

test("an answer that fails, has a problem or is large is not kept, and memory stays bounded", async () => {
  const desk = new Desk();
  const broken = desk.ask("a.example");
  await turn();
  desk.pending.shift()!.fail();
  assert.equal(await broken, "failed");
  assert.deepEqual(desk.errors, ["broken"]);
  const large = desk.ask("a.example");
  await turn();
  desk.pending.shift()!.end([{ list: "x".repeat(40_000), names: [] }]);
  assert.equal(typeof (await large), "object");
  const partly = desk.ask("a.example");
  await turn();
  const problem = { code: "record-outdated", message: "It has changed" };
  desk.pending.shift()!.end([...ANSWER, { list: "Other", problem }]);
  assert.equal(typeof (await partly), "object");
  const again = desk.ask("a.example");
  await desk.endAll();
  await again;
  assert.equal(desk.asked, 4);
  for (let at = 0; at < 300; at++) {
    const end = desk.ask(`n${at}.example`);
    await desk.endAll();
    await end;
  }
  const { kept } = desk.answers as unknown as { kept: Map<string, unknown> };
  assert.ok(kept.size <= 100, `${kept.size} answers`);
});

test("an answer that takes ten seconds is given up", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const stopped: boolean[] = [];
  const answers = new WhyAnswers({
    host: memoryHost(),
    signal: NEVER,
    resolvers: [],
    version: () => "",
    onError: (error) => assert.fail(String(error)),
    answer: (_question, signal) =>
      new Promise((_end, fail) => {
        signal.addEventListener("abort", () => {
          stopped.push(true);
          fail(new Error("stopped"));
        });
      }),
  });
  const end = answers.ask({ name: "a.example" }, "192.0.2.1");
  await turn();
  context.mock.timers.tick(10_000);
  assert.equal(await end, "late");
  assert.deepEqual(stopped, [true]);
});

/** A runner and actions that note when something begins and ends. */
function noted(): { runner: Runner; actions: Actions; notes: string[]; overlaps: () => number } {
  const notes: string[] = [];
  let running = 0;
  let overlaps = 0;
  const work = async <T>(name: string, result: T): Promise<T> => {
    if (++running > 1) overlaps++;
    notes.push(name);
    for (let turns = 0; turns < 3; turns++) await turn();
    running--;
    return result;
  };
  const host: Host = memoryHost();
  const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => false });
  const parts = { host, log, signal: NEVER };
  const runner = new Runner(NO_HISTORY, {
    ...parts,
    folder: "/project/state",
    runTimeoutMs: 0,
    compile: () => work("run", { exit: 2 }),
    onPublished: async () => {},
  });
  const end: ActionEnd = { exit: 0, problems: [] };
  const actions = new Actions({
    ...parts,
    host: { ...host, wait: () => new Promise(() => {}) },
    timeoutMs: 0,
    act: ({ action }) => work(action, end),
    onDone: async () => [],
  });
  return { runner, actions, notes, overlaps: () => overlaps };
}

const REQUEST = { action: "hold", list: "Home", end: false, from: "127.0.0.1" } as const;

test("actions and runs never overlap, and each action happens once", async () => {
  const steps = fc.array(fc.constantFrom("run", "act", "turn", "settle"), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const { runner, actions, notes, overlaps } = noted();
      const all: Promise<unknown>[] = [];
      const replies: Promise<{ readonly status: number }>[] = [];
      for (const step of order) {
        if (step === "run") all.push(runner.run("request"));
        else if (step === "act") replies.push(actions.answer(REQUEST, runner));
        else if (step === "turn") await turn();
        else await runner.settled();
      }
      await Promise.all(all);
      const statuses = (await Promise.all(replies)).map(({ status }) => status);
      await runner.settled();
      assert.equal(overlaps(), 0);
      const done = statuses.filter((status) => status === 200).length;
      assert.equal(notes.filter((note) => note === "hold").length, done);
      assert.ok(statuses.every((status) => status === 200 || status === 503));
      assert.equal(notes.includes("run"), order.includes("run"));
      assert.equal(runner.isBusy, false);
    }),
    propertyRuns(150),
  );
});

test("eight actions wait, and further ones are refused", async () => {
  const { runner, actions } = noted();
  const replies = Array.from({ length: 12 }, () => actions.answer(REQUEST, runner));
  const statuses = (await Promise.all(replies)).map(({ status }) => status);
  assert.deepEqual(statuses, [...Array<number>(8).fill(200), ...Array<number>(4).fill(503)]);
  assert.equal((await actions.answer(REQUEST, runner)).status, 200, "there is room again");
});

test("the status of the answer shows how the action ended", async () => {
  const ends: readonly (readonly [ActionEnd["exit"], number])[] = [
    [0, 200],
    [3, 200],
    [2, 400],
    [7, 409],
    [6, 500],
    [undefined, 500],
  ];
  for (const [exit, status] of ends) {
    const { runner } = noted();
    const host = { ...memoryHost(), wait: () => new Promise<void>(() => {}) };
    const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => true });
    const problem = { severity: "error", code: "build-missing", message: "No build" };
    const actions = new Actions({
      host,
      log,
      signal: NEVER,
      timeoutMs: 0,
      act: async () => ({ exit, problems: [problem] }),
      onDone: async () => [{ list: "Home", since: null, by: null, build: null }],
    });
    const reply = await actions.answer(REQUEST, runner);
    assert.equal(reply.status, status);
    assert.deepEqual(JSON.parse(reply.body as string), {
      action: "hold",
      list: "Home",
      exit: exit ?? null,
      held: { list: "Home", since: null, by: null, build: null },
      problems: [problem],
    });
  }
});

test("a client does not wait for an action behind a long run", async () => {
  const { runner, actions, notes } = noted();
  const impatient = new Actions({
    ...(actions as unknown as { options: ConstructorParameters<typeof Actions>[0] }).options,
    host: { ...memoryHost(), wait: async () => {} },
  });
  const { status, body } = await impatient.answer(REQUEST, runner);
  assert.equal(status, 202);
  assert.match(body as string, /"state": "queued"/);
  await runner.settled();
  assert.deepEqual(notes, ["hold"]);
});

/** Actions that go wrong, with their log; `wait` is how long a client waits. */
function failing(
  more: Partial<ConstructorParameters<typeof Actions>[0]>,
  wait: Host["wait"],
): { actions: Actions; runner: Runner; events: () => Record<string, unknown>[] } {
  const memory = memoryHost();
  const host = { ...memory, wait };
  const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => true });
  const actions = new Actions({
    host,
    log,
    signal: NEVER,
    timeoutMs: 0,
    act: async () => ({ exit: 0, problems: [] }),
    onDone: async () => [],
    ...more,
  });
  const lines = (): string[] => memory.output.stderr.trim().split("\n").filter(Boolean);
  const events = (): Record<string, unknown>[] =>
    lines().map((line) => JSON.parse(line) as Record<string, unknown>);
  return { actions, runner: noted().runner, events };
}

const broken = async (): Promise<never> => {
  await turn();
  throw new TypeError("a bug");
};

test("an action that cannot run, or whose end cannot be seen, is logged and answered", async () => {
  for (const more of [{ act: broken }, { onDone: broken }]) {
    const { actions, runner, events } = failing(more, () => new Promise(() => {}));
    const { status, body } = await actions.answer(REQUEST, runner);
    assert.equal(status, 500);
    assert.match(body as string, /"message": "a bug"/);
    const [event, ...further] = events();
    assert.deepEqual([event!["event"], event!["level"]], ["action", "error"]);
    assert.deepEqual([event!["reason"], event!["message"]], ["not-run", "a bug"]);
    assert.equal(further.length, 0);
  }
});

test("an action that goes wrong after its client was sent away is in the log", async () => {
  for (const more of [{ act: broken }, { onDone: broken }]) {
    const { actions, runner, events } = failing(more, async () => {});
    assert.equal((await actions.answer(REQUEST, runner)).status, 202);
    await runner.settled();
    assert.equal(events()[0]?.["message"], "a bug");
  }
});
