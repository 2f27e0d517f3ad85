import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";

const LINES = Array.from({ length: 400 }, (_, index) => `||n${index}.example^`);

/** A checkout of somebody else in a folder of the user, with the configuration `c.json`. */
class Checkout {
  readonly home: string;
  private readonly project: DiskProject;

  constructor(context: TestContext, more: object = {}) {
    this.project = new DiskProject(context);
    this.home = join(this.project.folder, "home");
    mkdirSync(this.home);
    writeFileSync(join(this.home, "own.conf"), "of the user\n");
    this.project.write("a.txt", `${LINES.join("\n")}\n`);
    this.configure(more);
  }

  get folder(): string {
    return this.project.folder;
  }

  configure(more: object): void {
    const sources = [{ source: "a.txt" }];
    const config = { name: "L", sources, transformations: ["Compress"], ...more };
    this.project.write("c.json", JSON.stringify(config, undefined, 1));
  }

  write(file: string, text: string): void {
    this.project.write(file, text);
  }

  async run(...words: string[]): ReturnType<DiskProject["run"]> {
    const [command = ""] = words;
    const named = /^[a-z]+$/.test(command) ? words : ["compile", ...words];
    const config = command === "verify" ? [] : ["-c", "c.json"];
    return await this.project.run(named[0]!, ...config, ...named.slice(1));
  }

  /** Every file below a folder with its content. */
  files(folder = "."): Map<string, string> {
    const root = join(this.folder, folder);
    if (!existsSync(root)) return new Map();
    const all = readdirSync(root, { recursive: true, withFileTypes: true });
    return new Map(
      all
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [relative(root, path), readFileSync(path, "latin1")]),
    );
  }
}

test("-o FILE writes the list alone, and the published release stays as it is", async (context) => {
  const more = {
    outputs: [{ format: "hosts", pack: ["gzip"] }, { format: "dnscrypt" }],
    manifest: {},
    patches: {},
  };
  const checkout = new Checkout(context, more);
  const names = Array.from({ length: 10_000 }, (_, index) => `||n${index}.example^`);
  checkout.write("a.txt", `${names.join("\n")}\n`);
  assert.equal((await checkout.run("--update")).exit, 0);
  const published = checkout.files("rules");
  const lock = checkout.files().get("rules.lock");
  checkout.write("a.txt", `${names.slice(0, 100).join("\n")}\n`);
  assert.equal((await checkout.run()).exit, 5);
  const refused = checkout.files("rules");
  for (const [name, text] of published)
    if (!name.startsWith(".rules-compiler")) assert.equal(refused.get(name), text, name);
  for (const output of ["try.txt", "new/try.txt", "-"]) {
    const { exit, stdout, stderr } = await checkout.run("-o", output);
    assert.equal(exit, 0, stderr);
    assert.deepEqual(checkout.files("rules"), refused, output);
    assert.equal(checkout.files().get("rules.lock"), lock);
    const text = output === "-" ? stdout : (checkout.files().get(output) ?? "");
    assert.equal(text.split("\n").filter((line) => line.startsWith("||")).length, 100);
    assert.ok(!text.includes("Diff-Path"), "no patches will be there");
    const notes = stderr.match(/note\[list-alone\]: (\d+) other files/g) ?? [];
    assert.deepEqual(notes, ["note[list-alone]: 5 other files"], stderr);
    assert.match(stderr, /-o FOLDER\//);
  }
  assert.deepEqual(
    [...checkout.files("new").keys()].filter((name) => !name.startsWith(".")),
    ["try.txt"],
  );
  assert.equal((await checkout.run("-o", "try.txt", "-r")).exit, 5, "a regular publish is guarded");
  assert.ok(checkout.files("rules").get("l.hosts")!.includes("n9999.example"));
});

test("-o FILE -r publishes as without -o, and copies the list", async (context) => {
  const more = { outputs: [{ format: "hosts" }], manifest: {}, patches: {} };
  const checkout = new Checkout(context, more);
  for (const output of ["try.txt", "-", "new/"]) {
    checkout.write("a.txt", `${LINES.join("\n")}\n||${output.length}.example^\n`);
    const { exit, stdout, stderr } = await checkout.run("-o", output, "-r");
    assert.equal(exit, 0, stderr);
    const list = checkout.files("rules").get("l.txt");
    const file = output === "new/" ? "new/l.txt" : output;
    assert.equal(output === "-" ? stdout : checkout.files().get(file), list);
    const { files } = JSON.parse(checkout.files("rules").get("manifest.json")!) as {
      files: { file: string }[];
    };
    assert.deepEqual(
      files.map((one) => one.file),
      ["l.txt", "l.hosts"],
    );
    assert.equal(checkout.files("patches").size, 0);
    assert.ok(!stderr.includes("list-alone"));
  }
});

test("-o FOLDER/ moves the whole release, with its guards", async (context) => {
  const more = { outputs: [{ format: "hosts" }], manifest: {}, patches: {} };
  const checkout = new Checkout(context, more);
  assert.equal((await checkout.run("--update")).exit, 0);
  const published = checkout.files("rules");
  const lock = checkout.files().get("rules.lock");
  checkout.write("a.txt", `${LINES.slice(1).join("\n")}\n`);
  for (const folder of ["out/", "out"]) {
    const { exit, stderr } = await checkout.run("-o", folder);
    assert.equal(exit, 0, stderr);
    assert.deepEqual(
      [...checkout.files("out").keys()].filter((name) => !name.startsWith(".")),
      ["l.hosts", "l.txt", "manifest.json"],
    );
  }
  const { files } = JSON.parse(checkout.files("out").get("manifest.json")!) as {
    files: { file: string }[];
  };
  assert.deepEqual(
    files.map((one) => one.file),
    ["l.txt", "l.hosts"],
  );
  assert.equal((await checkout.run("verify", "out/manifest.json")).exit, 0);
  assert.equal((await checkout.run("why", "-o", "out/", "n7.example")).exit, 0);
  checkout.write("a.txt", `${LINES.slice(390).join("\n")}\n`);
  assert.equal((await checkout.run("-o", "out/")).exit, 5);
  assert.deepEqual(checkout.files("rules"), published);
  assert.equal(checkout.files().get("rules.lock"), lock);
  assert.ok(statSync(join(checkout.folder, "out")).isDirectory());
});
