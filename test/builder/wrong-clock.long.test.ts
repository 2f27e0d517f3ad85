import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject, type Said } from "../support/memory-project.ts";
import { listIn } from "../support/documents.ts";

const DAY_MS = 86_400_000;
const JUMPS = { "+400 days": 400, "-400 days": -400, "+10 years": 3653, "-10 years": -3653 };

/** A project whose clock a test moves; every command is a minute later than the last. */
class ClockProject extends MemoryProject {
  private time = Date.parse("2026-11-10T00:00:00Z");

  constructor() {
    const config = {
      name: "Home",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      outputs: [{ format: "rpz", updates: "127.0.0.1" }, { format: "hosts" }],
      manifest: {},
      patches: "7d",
    };
    super({ "c.json": JSON.stringify(config) });
  }

  jump(days: number): void {
    this.time += days * DAY_MS;
  }

  async at(...words: string[]): Promise<Said> {
    this.time += 60_000;
    this.now = new Date(this.time).toISOString();
    const isAboutFile = words[0] === "lint" || words[0] === "verify";
    return await this.run(...words, ...(isAboutFile ? [] : ["-c", "c.json"]));
  }

  async good(...words: string[]): Promise<Said> {
    const said = await this.at(...words);
    assert.equal(said.exit, 0, `${words.join(" ")}: ${said.stdout}${said.stderr}`);
    return said;
  }

  async publish(name: string): Promise<void> {
    this.write("own.txt", `||always.org^\n||${name}.org^\n`);
    await this.good("compile");
    assert.match(this.text("rules/home.txt"), new RegExp(`^\\|\\|${name}\\.org\\^$`, "m"));
  }

  get serial(): number {
    return Number(/ SOA \S+ \S+ (\d+) /.exec(this.text("rules/home.rpz"))![1]);
  }
}

for (const [text, days] of Object.entries(JUMPS))
  test(`one run with the clock at ${text}, then back: every command works`, async () => {
    const project = new ClockProject();
    await project.publish("zero");
    await project.publish("one");
    const { serial } = project;
    project.jump(days);
    await project.publish("wrong");
    project.jump(-days);
    for (const name of ["two", "three"]) {
      await project.publish(name);
      const why = await project.good("why", `${name}.org`);
      assert.match(why.stdout, /BLOCKED[^]*Own:2/);
      assert.doesNotMatch((await project.at("why", "wrong.org")).stdout, /BLOCKED/);
    }
    assert.ok(project.serial > serial, "serials go on");
    const log = await project.good("log", "--json");
    const { events } = listIn(log.stdout) as { readonly events: LogLine[] };
    assert.deepEqual(
      events.map(({ event, build }) => `${event} ${build}`),
      ["published @0", "published @1", "published @2", "published @3", "published @4"],
    );
    assert.deepEqual(
      events.map(({ at }) => at.slice(0, 4) === "2026"),
      [true, true, false, true, true],
    );
    await project.good("plan");
    await project.good("stats");
    await project.good("lint", "rules/home.txt");
    await project.good("validate");
    await project.good("export", "lines.csv");
    await project.good("verify", "rules/manifest.json");
    await project.good("diff", "@1", "@0");
    await project.good("rollback");
    assert.match(
      project.text("rules/home.txt"),
      /two\.org/,
      "the build before, not that of the wrong clock",
    );
    await project.good("hold");
    await project.at("compile");
    await project.good("hold", "--end");
    await project.publish("four");
    // A plan has the bytes that were reviewed; if its clock was wrong, its manifest is old until the next run.
    for (const off of [0, days]) {
      project.write("own.txt", `||always.org^\n||applied${off + 5000}.org^\n`);
      project.jump(off);
      await project.good("plan", "--save", "my.plan");
      project.jump(-off);
      await project.good("apply", "my.plan");
      assert.match(project.text("rules/home.txt"), new RegExp(`applied${off + 5000}\\.org`));
      if (off !== 0) await project.good("compile");
      await project.good("verify", "rules/manifest.json");
    }
  });

interface LogLine {
  readonly event: string;
  readonly build: string;
  readonly at: string;
}

test("state of a newer version is reported and not replaced", async () => {
  const project = new ClockProject();
  await project.publish("one");
  const files = [...project.memory.files.keys()].filter((path) => path.endsWith(".json"));
  const states = files.filter((path) => path.includes("/.rules-compiler/"));
  assert.ok(states.length > 0, files.join(" "));
  for (const path of states) {
    const file = path.slice("/project/".length);
    const old = project.text(file);
    const value = JSON.parse(old) as { version?: number };
    if (value.version === undefined) continue;
    const newer = JSON.stringify({ ...value, version: 99 });
    project.write(file, newer);
    project.write("own.txt", "||always.org^\n||two.org^\n");
    const said = await project.at("compile");
    assert.equal(said.exit, 2, said.stderr);
    assert.match(said.stderr, /error\[newer-state\][^]*written by a newer rules-compiler/);
    assert.equal(project.text(file), newer);
    project.write(file, old);
  }
});

test("a run with a wrong clock neither repeats a reminder nor dates it wrongly later", async () => {
  for (const days of Object.values(JUMPS)) {
    // A warning that lasts: a name that devices need is blocked.
    const project = new ClockProject();
    project.write("own.txt", "||always.org^\n||mesu.apple.com^\n");
    const told: string[] = [];
    const look = async (): Promise<void> => {
      const { stderr } = await project.good("compile", "-q");
      told.push(/warning\[protected-blocked\]: (Since \S+)?/.exec(stderr)?.[1] ?? "");
    };
    for (let day = 0; day < 9; day++, project.jump(1)) await look();
    assert.deepEqual(told.splice(0).filter(Boolean), ["Since 2026-11-10:"]);
    project.jump(days);
    await look();
    project.jump(-days);
    told.length = 0;
    for (let day = 9; day < 12; day++, project.jump(1)) await look();
    assert.deepEqual(told, ["", "", ""], `${days} days`);
  }
});
