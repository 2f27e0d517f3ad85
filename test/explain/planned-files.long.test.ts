import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { listIn } from "../support/documents.ts";

const ACCEPT = ["source-shrunk", "source-grown", "source-replaced", "too-few-rules"].flatMap(
  (code) => ["--accept", code],
);

interface Planned {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly files: readonly {
    readonly file: string;
    readonly added?: number;
    readonly removed?: number;
  }[];
}

/** Every published file, without what changes with the clock. */
function publishedIn({ memory }: MemoryProject): Map<string, string> {
  const files = new Map<string, string>();
  for (const [path, bytes] of memory.files)
    if (/^\/project\/rules\/[^.]/.test(path))
      files.set(
        path.replace("/project/", ""),
        new TextDecoder("latin1")
          .decode(bytes)
          .replace(/Last modified: .*/, "")
          .replace(/(?<=^@ SOA \S+ \S+ )\d+/m, "")
          .replace(/"version":.*\n.*"built".*\n.*"expires".*/, ""),
      );
  return files;
}

function namesIn(text = ""): Set<string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Set(lines.map((line) => line.replace(/.* /, "")));
}

function missingIn(names: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...names].filter((name) => !others.has(name)).length;
}

test("plan tells every file that a build then changes, and no other", async () => {
  const seen = { same: 0, files: 0, rules: 0 };
  for (let seed = 1; seed <= (isNightly ? 200 : 30); seed++) {
    const random = new Random(seed);
    const line = (): string => {
      const name = `${random.pick(["", "x.", "y.", "z.x."])}${random.pick(["a", "b", "c"])}.com`;
      return random.pick([`||${name}^`, `||${name}^`, name, `0.0.0.0 ${name} w.${name}`]);
    };
    const formats = ["hosts", "domains", "rpz", "unbound", "cdb"].filter(() => random.chance(0.6));
    const config = (description: string): string =>
      JSON.stringify({
        name: "R",
        description,
        sources: [{ name: "A", source: "s.txt" }],
        transformations: ["Compress"],
        outputs: formats.map((format) => ({ format })),
        ...(random.chance(0.3) && { manifest: {} }),
      });
    const project = new MemoryProject({ "c.json": config("one"), "s.txt": "" });
    const lines = Array.from({ length: 8 }, line);
    const text = (): string => `||always.com^\n||b.com^\n${lines.join("\n")}\n`;
    project.write("s.txt", text());
    const first = await project.run("-c", "c.json", "-q", ...ACCEPT);
    assert.equal(first.exit, 0, first.stderr);
    for (let step = 0; step < 4; step++) {
      project.now = `2026-11-10T0${step + 1}:00:00Z`;
      if (random.chance(0.7)) lines[random.below(lines.length)] = line();
      else if (random.chance(0.2)) project.write("c.json", config("two"));
      project.write("s.txt", text());
      const what = `seed ${seed}, step ${step}: ${formats.join()}\n${text()}`;
      const before = publishedIn(project);
      const words = ["plan", "-c", "c.json", "--exit-code", ...ACCEPT];
      const planned = await project.run(...words, "--json");
      const shown = await project.run(...words);
      assert.deepEqual(publishedIn(project), before, "a plan publishes nothing");
      const { added, removed, files } = listIn(planned.stdout) as Planned;
      const { exit, stderr } = await project.run("-c", "c.json", "-q", ...ACCEPT);
      assert.equal(exit, 0, stderr);
      const after = publishedIn(project);
      const changed = [...after.keys()].filter((file) => after.get(file) !== before.get(file));
      const isSame = changed.length === 0;
      assert.equal(planned.exit, isSame ? 0 : 10, `${what}\n${changed.join()}`);
      assert.equal(shown.stdout.includes("nothing to publish"), isSame, what);
      const told = new Set(files.map(({ file }) => file));
      if (added.length + removed.length > 0) told.add("rules/r.txt");
      // These two go with the others.
      const own = changed.filter((file) => !/\.lua$|manifest\.json$/.test(file));
      assert.deepEqual([...told].toSorted(), own.toSorted(), what);
      for (const { file, ...names } of files) {
        if (!/\.(?:hosts|domains)$/.test(file)) continue;
        const [old, fresh] = [namesIn(before.get(file)), namesIn(after.get(file))];
        const counts = { added: missingIn(fresh, old), removed: missingIn(old, fresh) };
        assert.deepEqual([names.added, names.removed], [counts.added, counts.removed], what);
      }
      if (isSame) seen.same++;
      else if (added.length + removed.length > 0) seen.rules++;
      else seen.files++;
    }
  }
  assert.ok(seen.same > 5 && seen.files > 5 && seen.rules > 5, JSON.stringify(seen));
});

async function planText(project: MemoryProject): Promise<string> {
  const { exit, stdout } = await project.run("plan", "-c", "c.json", "--exit-code");
  return `${exit} ${stdout.split("\n").slice(2, -1).join("\n")}`;
}

const LIST = {
  name: "R",
  sources: [{ name: "A", source: "s.txt" }],
  transformations: ["Compress"],
  outputs: [{ format: "hosts" }],
};

test("plan shows names that come and go in an output alone in one line", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify(LIST),
    "s.txt": "||b.com^\nx.b.com\n",
  });
  await project.run("-c", "c.json", "-q");
  project.write("s.txt", "||b.com^\nz.b.com\nw.b.com\n");
  assert.equal(
    await planText(project),
    `10   + 0  − 0  = 1 rule (was 1, +0.0 %)
  rules/r.hosts: + 2 names, − 1 name
would be published`,
  );
});

test("a manifest is planned if it is new, lists other files, or has passed half of its time", async () => {
  const project = new MemoryProject({ "c.json": JSON.stringify(LIST), "s.txt": "||b.com^\n" });
  await project.run("-c", "c.json", "-q");
  assert.match(await planText(project), /^0 .*nothing to publish$/s);
  const packed = { ...LIST, outputs: [{ format: "hosts", pack: ["gzip"] }], manifest: {} };
  project.write("c.json", JSON.stringify({ ...LIST, manifest: {} }));
  assert.match(await planText(project), /^10 .*rules\/manifest\.json: other content/s);
  await project.run("-c", "c.json", "-q");
  assert.match(await planText(project), /^0 /);
  project.write("c.json", JSON.stringify(packed));
  assert.match(await planText(project), /^10 .*rules\/r\.hosts: other content/s);
  await project.run("-c", "c.json", "-q");
  assert.match(await planText(project), /^0 /);
  project.now = "2026-11-18T00:00:00Z";
  assert.match(await planText(project), /^10 .*rules\/manifest\.json: other content/s);
});

test("a file over several lists is planned, and an output that would be refused is", async () => {
  const config = {
    name: "L",
    sources: [{ name: "A", source: "s.txt" }],
    lists: [{ name: "One" }, { name: "Two" }],
    combined: [{ format: "unbound-tags", file: "tags.conf" }],
  };
  const project = new MemoryProject({ "c.json": JSON.stringify(config), "s.txt": "||b.com^\n" });
  const first = await project.run("-c", "c.json", "-q");
  assert.equal(first.exit, 0, first.stderr);
  assert.doesNotMatch(await planText(project), /tags/);
  project.write("s.txt", "||b.com^\n||c.com^\n");
  assert.match(await planText(project), /^10 .*rules\/tags\.conf: other content/s);
  const strict = { ...LIST, outputs: [{ format: "hosts", on_loss: "fail" }] };
  project.write("c.json", JSON.stringify(strict));
  project.write("s.txt", "||b.com^\n/^ads[0-9]+\\.com$/\n");
  assert.match(await planText(project), /^5 .*format-loss.*would be refused/s);
});

test("diff and log show names that come and go in an output alone, and nothing if no file changed", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify(LIST),
    "s.txt": "||b.com^\nx.b.com\n",
  });
  await project.run("-c", "c.json", "-q");
  project.now = "2026-11-10T01:00:00Z";
  project.write("s.txt", "||b.com^\nz.b.com\nw.b.com\n");
  await project.run("-c", "c.json", "-q");
  project.now = "2026-11-10T02:00:00Z";
  await project.run("-c", "c.json", "-q", "--no-cache");
  const line = "rules/r.hosts: + 2 names, − 1 name";
  const changed = await project.run("diff", "-c", "c.json", "@2", "@1", "--exit-code");
  assert.equal(changed.exit, 10, changed.stderr);
  assert.ok(changed.stdout.includes(line), changed.stdout);
  const same = await project.run("diff", "-c", "c.json", "@1", "@0", "--exit-code");
  assert.equal(same.exit, 0);
  assert.match(same.stdout, /no change: 1 rule/);
  const { stdout } = await project.run("log", "-c", "c.json", "--markdown");
  const [, last = "", before = ""] = stdout.split("\n## ");
  assert.match(last, /Nothing changed: 1 rule\./);
  assert.ok(before.includes(line), stdout);
  const { stdout: events } = await project.run("log", "-c", "c.json", "--json");
  assert.deepEqual(
    (listIn(events) as { events: { event: string }[] }).events.map(({ event }) => event),
    ["unchanged", "published", "published"],
  );
  assert.deepEqual(
    [...project.memory.files.keys()].filter((path) => path.includes("compared")),
    [],
  );
});
