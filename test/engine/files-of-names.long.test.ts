import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Config, type MemoryHost, memoryHost } from "../support/internals.ts";

const OTHER = "https://lists.example/other.txt";
const FILE = "https://names.example/file.txt";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function lines(count: number, lineOf: (index: number) => string, from = 0): string {
  return Array.from({ length: count }, (_, index) => `${lineOf(from + index)}\n`).join("");
}

/** Every fourth name has a word that trackers have in their names. */
const WORDS = ["ad", "click", "stat", "metric", "track", "analy"];
const nameOf = (index: number): string =>
  index % 4 === 0 ? `${WORDS[(index / 4) % 6]}${index}.example` : `n${index}.example`;
const OTHERS = lines(4000, (index) => `||${nameOf(index)}^`);
const HARMLESS = "nothing.test\n";

const ROLES = {
  allow: { allow_sources: [FILE] },
  exclusions: { exclusions_sources: [FILE] },
  protect: { guards: { protect: [FILE] } },
} as const satisfies Record<string, Partial<Config>>;

/** A list with a file of names from the web, published once. */
class Project {
  readonly web: Record<string, string> = { [OTHER]: OTHERS, [FILE]: HARMLESS };
  readonly host: MemoryHost;
  flags: readonly string[] = ["--cache-dir", "/cache"];
  private now = Date.parse("2026-11-10T00:00:00Z");

  constructor(config: Partial<Config>) {
    this.host = memoryHost({ web: this.web });
    this.configure(config);
  }

  configure(config: Partial<Config>): void {
    const sources = [{ source: OTHER, name: "Other" }];
    const text = JSON.stringify({ name: "N", sources, ...config });
    this.host.files.set("/project/c.json", new TextEncoder().encode(text));
  }

  /** Runs with another text of the file, some time later. */
  async run(text: string, ms = HOUR, ...more: string[]): Promise<string> {
    this.web[FILE] = text;
    this.now += ms;
    this.host.output.stderr = "";
    const host = { ...this.host, now: () => new Date(this.now) };
    const args = [...more, ...this.flags, "-c", "c.json", "-o", "out.txt"];
    const exit = await run(args, host, new AbortController().signal);
    assert.equal(exit, 0, this.host.output.stderr);
    return this.host.output.stderr;
  }

  get rules(): number {
    const text = new TextDecoder().decode(this.host.files.get("/project/out.txt"));
    return text.split("\n").filter((line) => line.startsWith("||")).length;
  }
}

for (const [role, config] of Object.entries(ROLES)) {
  test(`${role}: a remote file frees twenty names, and not a quarter of the list`, async () => {
    const project = new Project(config);
    await project.run(HARMLESS);
    const quarter = HARMLESS + lines(900, nameOf);
    const said = await project.run(quarter);
    assert.equal(project.rules, 4000, said);
    assert.match(
      said,
      /warning\[source-held\]: https:\/\/names\.example\/file\.txt differs too much/,
    );
    assert.match(said, /would free 900 names of the published list: ad0\.example, .* and 895 more/);
    assert.match(said, /--accept names-freed/);
    assert.match(
      await project.run(HARMLESS + lines(20, nameOf)),
      /note\[source-held\].* is read again/,
    );
    assert.equal(project.rules, 3980);
  });

  test(`${role}: many small steps count as one, for 30 days`, async () => {
    const project = new Project(config);
    await project.run(HARMLESS);
    for (let step = 1; step <= 8; step++) await project.run(HARMLESS + lines(20 * step, nameOf));
    assert.equal(project.rules, 3980);
    // Entries that come and go count once each.
    await project.run(HARMLESS);
    await project.run(HARMLESS + lines(20, nameOf));
    assert.equal(project.rules, 3980);
    await project.run(HARMLESS + lines(20, nameOf, 20));
    assert.equal(project.rules, 3980);
    await project.run(HARMLESS + lines(20, nameOf), DAY);
    await project.run(HARMLESS + lines(40, nameOf), 31 * DAY);
    assert.equal(project.rules, 3960);
  });

  test(`${role}: a hold ends after three days, or if the user accepts it`, async () => {
    const quarter = HARMLESS + lines(900, nameOf);
    for (const flags of [["--cache-dir", "/cache"], ["--no-cache"]]) {
      const project = new Project(config);
      project.flags = flags;
      await project.run(HARMLESS);
      for (const day of [1, 2, 3]) {
        await project.run(quarter, DAY);
        assert.equal(project.rules, 4000, `day ${day}`);
      }
      await project.run(quarter, DAY);
      assert.equal(project.rules, 3100, flags.join());
    }
    const accepted = new Project(config);
    await accepted.run(HARMLESS);
    await accepted.run(quarter, HOUR, "--accept", "names-freed");
    assert.equal(accepted.rules, 3100);
    await accepted.run(quarter + lines(20, nameOf, 900));
    assert.equal(accepted.rules, 3080);
  });

  test(`${role}: own files, and files that are new in the configuration, have no limit`, async () => {
    const added = new Project({});
    await added.run(lines(900, nameOf));
    added.configure(config);
    await added.run(lines(900, nameOf));
    assert.equal(added.rules, 3100);
    const own = new Project(
      JSON.parse(JSON.stringify(config).replaceAll(FILE, "own.txt")) as Config,
    );
    const write = (text: string): void =>
      void own.host.files.set("/project/own.txt", new TextEncoder().encode(text));
    write(HARMLESS);
    await own.run(HARMLESS);
    write(lines(900, nameOf));
    await own.run(HARMLESS);
    assert.equal(own.rules, 3100);
  });
}

test("six words of an exclusions file, of which three are too short to count, free an eighth of the list", async () => {
  const project = new Project(ROLES.exclusions);
  await project.run(HARMLESS);
  const said = await project.run(`${HARMLESS}${WORDS.join("\n")}\n`);
  assert.match(said, /would free 499 names/);
  assert.equal(project.rules, 4000);
});

test("an exclusion counts in the syntax of the source, too", async () => {
  for (const entry of ["0.0.0.0 n*", "/^0\\.0\\.0\\.0 n[0-9]+5\\.example$/"]) {
    const project = new Project({ ...ROLES.exclusions, transformations: ["Compress"] });
    project.web[OTHER] = lines(4000, (index) => `0.0.0.0 ${nameOf(index)}`);
    await project.run(HARMLESS);
    assert.match(await project.run(HARMLESS + entry), /source-held/, entry);
    assert.equal(project.rules, 4000);
  }
});

test("an allow-list frees important rules and names below blocked ones", async () => {
  for (const [rule, entry] of [
    ["||NAME^$important", "NAME"],
    ["||NAME^", "www.NAME"],
  ] as const) {
    const project = new Project(ROLES.allow);
    project.web[OTHER] = lines(4000, (index) => rule.replace("NAME", nameOf(index)));
    await project.run(HARMLESS);
    const said = await project.run(lines(21, (index) => entry.replace("NAME", nameOf(index))));
    assert.match(said, /would free 21 names/);
  }
});

test("a file of names has a history of its own, also if a source has the same address", async () => {
  const project = new Project({
    sources: [{ source: OTHER, name: "Other" }, { source: FILE }],
    exclusions_sources: [FILE],
  });
  await project.run(lines(200, (index) => `f${index}.example`));
  const state = new TextDecoder().decode(
    project.host.files.get("/project/.rules-compiler/sources.json"),
  );
  const { sources } = JSON.parse(state) as { sources: object };
  assert.equal(Object.keys(sources).length, 3);
});

test("ranks that lose most of their names are held", async () => {
  const project = new Project({ ranks: [FILE] });
  await project.run(lines(2000, (index) => `r${index}.example`));
  assert.match(await project.run(lines(100, (index) => `r${index}.example`)), /source-held/);
});

/** Texts that are neither refused as web pages nor parsed as the feed, or that have no names. */
const GARBAGE = {
  symbols: "%%%%, ????\n".repeat(500),
  comments: "# nothing\n".repeat(500),
  bytes: String.fromCodePoint(...Array.from({ length: 600 }, (_, index) => 0x80 + (index % 120))),
  page: "<!doctype html><html><title>Parked</title></html>",
  json: '{"error": "rate limit"}',
  empty: "",
};

for (const [kind, garbage] of Object.entries(GARBAGE))
  for (const type of [undefined, "tranco"] as const)
    test(`${kind} instead of ranks${type ? ` of type ${type}` : ""} is a failed fetch`, async () => {
      const ranks = lines(20, (index) => `${type ? `${index + 1},` : ""}${nameOf(index)}`);
      const limited = { ranks: [type ? { source: FILE, type } : FILE], fit: { top: 10 } };
      const project = new Project(limited);
      await project.run(ranks);
      const { rules } = project;
      assert.ok(rules < 20, `${rules} rules`);
      // The copy is used, and the user is told once.
      const told = /source-stale\]: .*file\.txt failed; using cached copy/;
      assert.match(await project.run(garbage), told);
      assert.doesNotMatch(await project.run(garbage), /source-stale/);
      assert.equal(project.rules, rules);
      // Without a copy, the list is published without ranks.
      const other = new Project({});
      await other.run(garbage);
      other.configure(limited);
      assert.match(
        await other.run(garbage),
        /source-dropped\]: .*file\.txt failed and is left out/,
      );
      assert.doesNotMatch(await other.run(garbage), /source-dropped/);
      assert.equal(other.rules, 4000);
    });
