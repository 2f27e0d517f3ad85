import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost } from "../support/internals.ts";
import { changedRules } from "../../src/explain/list-change.ts";
import { packingHost } from "../support/packing-host.ts";
import { Random } from "../support/random.ts";
import { assertScreen, withoutCodes } from "../support/screen.ts";
import { webOf } from "../support/web-of.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function config(names: string[]): string {
  return JSON.stringify({
    name: "L",
    sources: names.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
  });
}

test("a change is compiled and shown; an error is reported, and the next change can fix it", async () => {
  const memory = memoryHost({
    files: {
      "c.json": config(["a", "b"]),
      "a.txt": "||a.example^\n||com^",
      "b.txt": "||b.example^",
      "d.txt": "||d.example^",
    },
  });
  const stop = new AbortController();
  let clock = Date.parse("2026-11-10T00:00:00Z");
  const list = (): string => new TextDecoder().decode(memory.files.get("/project/rules/l.txt"));
  const set = (file: string, text: string): void =>
    void memory.files.set(`/project/${file}`, bytes(text));
  const seen: string[] = [];
  const steps: (() => void)[] = [
    () => set("b.txt", "||b.example^\n||new.example^"),
    () => set("c.json", "{"),
    () => set("c.json", config(["a", "b", "d"])),
    () => set("d.txt", "||a.example^"),
    () => memory.files.delete("/project/b.txt"),
    () => set("b.txt", "||example^\n||b2.example^"),
    () => set("decisions.txt", "block own.example\n"),
    () => set("decisions.txt", "allow a.example\n"),
    () => stop.abort("SIGINT"),
  ];
  const host = {
    ...memory,
    now: () => new Date((clock += 10)),
    // Time passes only here, and every look finds the next change.
    wait: async (ms: number) => {
      if (ms < 100) return;
      seen.push(memory.files.has("/project/rules/l.txt") ? rulesIn(list()) : "");
      steps.shift()?.();
    },
  };
  const exit = await run(["watch", "-c", "c.json", "--no-cache", "--no-record"], host, stop.signal);
  assert.equal(exit, 0, memory.output.stderr);
  assert.deepEqual(seen, [
    "a b",
    "a b new",
    "a b new",
    "a b new d",
    "a b new",
    "a b new",
    "a b2",
    "a b2 own",
    "b2",
  ]);
  const said = memory.output.stderr;
  assert.match(said, /rules\/l\.txt after b\.txt: \+ 1 {2}− 0/);
  assert.match(said, /^ {2}\+ \|\|new\.example\^$/m);
  assert.match(said, /config-syntax/);
  assert.match(said, /source-not-found/);
  assert.match(said, /^ {2}− \|\|d\.example\^$/m);
});

test("watch shows the fate of each new or changed line that is dropped", async () => {
  const memory = memoryHost({
    files: {
      "c.json": config(["own", "other"]),
      "own.txt": "||a.example^\n||b.example^\n||bad host^\n",
      "other.txt": "||other.example^\n",
    },
    isTerminal: true,
  });
  const stop = new AbortController();
  const set = (text: string): void => void memory.files.set("/project/own.txt", bytes(text));
  const good = "||a.example^\n||b.example^\n||bad host^\n";
  const bad = "||com^\nthis is not a rule !!\n@@||b.example^$foo\n";
  const many = Array.from({ length: 12 }, (_, at) => `||bad ${at}^\n`).join("");
  const steps: (() => void)[] = [
    () => set(good + bad),
    () => set(`! title\n${good}${bad}||a.example^\r\n||new.example^\n`),
    () => set(good + many),
    () => stop.abort("SIGINT"),
  ];
  let clock = Date.parse("2026-11-10T00:00:00Z");
  const host = {
    ...packingHost(memory),
    now: () => new Date((clock += 10)),
    wait: async (ms: number) => {
      if (ms >= 100) steps.shift()?.();
    },
  };
  const words = ["watch", "-c", "c.json", "--no-cache", "--color", "never"];
  assert.equal(await run(words, host, stop.signal), 0, memory.output.stderr);
  assertScreen("watch", withoutCodes(memory.output.stderr).replaceAll(/\d\.\d\d s/g, "0.00 s"));
});

test("files that are saved one after the other, a source that comes later, a list that fails", async () => {
  const memory = memoryHost({
    files: {
      "c.json": JSON.stringify({
        name: "All",
        sources: ["a", "b", "later"].map((name) => ({
          name,
          source: `${name}.txt`,
          type: "adblock",
        })),
        transformations: ["Compress"],
        lists: [
          { name: "Waits", sources: ["later"] },
          { name: "L", sources: ["a", "b"] },
        ],
      }),
      "a.txt": "||a.example^",
      "b.txt": "||b.example^",
    },
  });
  const stop = new AbortController();
  let clock = Date.parse("2026-11-10T00:00:00Z");
  const set = (file: string, text: string): void =>
    void memory.files.set(`/project/${file}`, bytes(text));
  const text = (file: string): string =>
    rulesIn(new TextDecoder().decode(memory.files.get(`/project/rules/${file}`)));
  const seen: string[] = [];
  const steps: [look: () => void, settle: () => void][] = [
    [() => set("a.txt", "||a2.example^"), () => set("b.txt", "||b2.example^")],
    [() => set("later.txt", "||later.example^"), () => {}],
    [() => stop.abort("SIGINT"), () => {}],
  ];
  const host = {
    ...memory,
    now: () => new Date((clock += 10)),
    wait: async (ms: number) => {
      if (ms < 100) {
        steps.shift()?.[1]();
        return;
      }
      seen.push(`${text("l.txt")}, ${text("waits.txt")}`);
      steps[0]?.[0]();
    },
  };
  const words = ["watch", "-c", "c.json", "--no-cache", "--no-record"];
  assert.equal(await run(words, host, stop.signal), 0, memory.output.stderr);
  assert.deepEqual(seen, ["a b, ", "a2 b2, ", "a2 b2, later"]);
  memory.output.stderr = "";
  const second = new AbortController();
  const wait = async (): Promise<void> => second.abort("SIGINT");
  await run([...words, "-o", "one.txt"], { ...host, wait }, second.signal);
  assert.match(memory.output.stderr, /several-lists/);
  assert.ok(!memory.files.has("/project/one.txt"));
});

test("the first build of watch leaves the files that compile leaves, with locks and places", async () => {
  const url = "https://lists.example/a.txt";
  const alone = { name: "L", sources: [{ source: url, name: "a" }, "own.txt"] };
  const several = {
    name: "All",
    sources: [
      { source: url, name: "a" },
      { source: "own.txt", name: "own" },
    ],
    lists: [{ name: "One", sources: ["a"] }, { name: "Two" }],
  };
  for (const [settings, ...words] of [
    [alone],
    [several],
    [alone, "--update"],
    [several, "--update"],
  ] as const) {
    const [compiled, watched] = ["compile", "watch"].map((command) => {
      const memory = memoryHost({
        files: { "c.json": JSON.stringify(settings), "own.txt": "||own.example^\n" },
      });
      return { command, memory, stop: new AbortController() };
    }) as [Run, Run];
    for (const { command, memory, stop } of [compiled, watched]) {
      const web = webOf({ [url]: "||a.example^\n||b.example^\n" });
      const wait = async (): Promise<void> => stop.abort("SIGINT");
      const host = { ...packingHost(memory), ...web, now: atNoon, wait };
      const exit = await run(
        [command, "-c", "c.json", "--cache-dir", "cache", ...words],
        host,
        stop.signal,
      );
      assert.equal(exit, 0, memory.output.stderr);
    }
    const where = JSON.stringify([words, settings]);
    // Watch keeps in memory what the cache of compile has.
    const left = ({ memory: { files } }: Run): string[] =>
      [...files.keys()].filter((path) => !/build(?:-[^/]*)?\.json$/.test(path)).toSorted();
    assert.deepEqual(left(watched), left(compiled), where);
    const lock = "/project/rules.lock";
    assert.deepEqual(watched.memory.files.get(lock), compiled.memory.files.get(lock), where);
    assert.equal(watched.memory.files.has(lock), words.length > 0, where);
  }
});

test("watch renews the lock in each build", async () => {
  const memory = memoryHost({
    files: { "c.json": config(["a", "b"]), "a.txt": "||a.example^", "b.txt": "||b.example^" },
  });
  const stop = new AbortController();
  let clock = Date.parse("2026-11-10T00:00:00Z");
  const steps: (() => void)[] = [
    () => void memory.files.set("/project/b.txt", bytes("||b2.example^\n||b3.example^")),
    () => stop.abort("SIGINT"),
  ];
  const wait = async (ms: number): Promise<void> => {
    if (ms >= 100) steps.shift()?.();
  };
  const host = { ...packingHost(memory), now: () => new Date((clock += 10)), wait };
  assert.equal(await run(["watch", "-c", "c.json", "--update"], host, stop.signal), 0);
  const frozen = ["-c", "c.json", "--frozen"];
  const exit = await run(frozen, host, new AbortController().signal);
  assert.equal(exit, 0, memory.output.stderr);
});

interface Run {
  readonly command: string;
  readonly memory: ReturnType<typeof memoryHost>;
  readonly stop: AbortController;
}

function rulesIn(text: string): string {
  return [...text.matchAll(/^\|\|(\w+)\.example\^$/gm)].map(([, name]) => name).join(" ");
}

test("rules that came and went, of random lists", () => {
  const random = new Random(77);
  for (let round = 0; round < 2000; round++) {
    const old = [...new Set(random.times(random.below(20), () => `||${random.below(30)}^`))];
    const more = random.times(random.below(3), () => `||${random.below(40)}^`);
    const fresh = [...new Set([...old.filter(() => random.chance(0.9)), ...more])];
    const text = (lines: string[], date: string): Uint8Array =>
      bytes(`! date ${date}\n!\n${lines.map((line) => `${line}\n`).join("")}`);
    const { added, removed } = changedRules(
      text(old, "1"),
      text(fresh, random.pick(["1", "2", "33"])),
    );
    assert.deepEqual(
      [...added].toSorted(),
      [...new Set(fresh)].filter((line) => !old.includes(line)).toSorted(),
    );
    assert.deepEqual(
      [...removed].toSorted(),
      [...new Set(old)].filter((line) => !fresh.includes(line)).toSorted(),
    );
  }
});

function atNoon(): Date {
  return new Date("2026-11-10T12:00:00Z");
}
