import assert from "node:assert/strict";
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";

function configOf(name: string, sources: readonly string[], more: object = {}): string {
  return JSON.stringify({
    name,
    sources: sources.map((source) => ({ name: source, source, type: "adblock" })),
    ...more,
  });
}

class TwoConfigurations extends DiskProject {
  /** Two lists, and the first one published by `a.json`. */
  async published(sources: readonly string[] = ["a.txt"], ...words: string[]): Promise<this> {
    for (const one of "abc") this.write(`${one}.txt`, `||${one}.example^\n`);
    this.write("a.json", configOf("My list", sources));
    assert.equal((await this.run("-q", "-c", "a.json", ...words)).exit, 0);
    return this;
  }

  async exitOf(...words: string[]): Promise<number> {
    return (await this.run("-q", ...words)).exit;
  }
}

test("a configuration does not replace the list of another one", async (context) => {
  const project = await new TwoConfigurations(context).published();
  const before = project.text("rules/my-list.txt");
  project.write("b.json", configOf("My list!", ["b.txt"]));
  for (const command of ["compile", "plan", "validate"]) {
    const { exit, stderr } = await project.run(command, "-c", "b.json");
    assert.equal(exit, 2, `${command}: ${stderr}`);
    assert.match(stderr, /error\[same-file\]/);
    assert.match(stderr, /rules\/my-list\.txt is the list of a\.json; b\.json would replace it/);
    assert.match(stderr, /another name.*-o.*RULES_DIR.*delete/s);
  }
  assert.equal(project.text("rules/my-list.txt"), before);
  assert.equal(await project.exitOf("-c", "a.json"), 0, "its own list is not refused");
});

const REFUSED: Readonly<Record<string, (project: TwoConfigurations) => Promise<string[]>>> = {
  "one of several lists": async (project) => {
    const lists = [{ name: "Other" }, { name: "My list" }];
    project.write("b.json", configOf("Lists", ["b.txt"], { lists }));
    return ["-c", "b.json"];
  },
  "a part of its sources": async (project) => {
    project.write("b.json", configOf("My list", ["a.txt", "b.txt"]));
    return ["-c", "b.json"];
  },
  "a configuration of another folder": async (project) => {
    mkdirSync(join(project.folder, "other"));
    project.write("other/a.json", configOf("My list", ["../b.txt"]));
    return ["-c", "other/a.json"];
  },
  "a configuration of another folder whose own rules have the same name": async (project) => {
    mkdirSync(join(project.folder, "other"));
    for (const folder of ["", "other/"])
      project.write(`${folder}own-rules.txt`, "||own.example^\n");
    project.write("a.json", configOf("My list", ["own-rules.txt", "a.txt"]));
    await project.run("-q", "-c", "a.json");
    project.write("other/a.json", configOf("My list", ["own-rules.txt", "../b.txt"]));
    return ["-c", "other/a.json"];
  },
  "a configuration of another folder that shares one of three sources": async (project) => {
    mkdirSync(join(project.folder, "other"));
    const shared = join(project.folder, "a.txt");
    project.write("a.json", configOf("My list", [shared, "b.txt", "c.txt"]));
    await project.run("-q", "-c", "a.json");
    for (const one of "de") project.write(`other/${one}.txt`, `||${one}.example^\n`);
    project.write("other/a.json", configOf("My list", [shared, "d.txt", "e.txt"]));
    return ["-c", "other/a.json"];
  },
  "a list of the command line": async (project) => {
    project.write("a.json", configOf("Blocklist", ["a.txt"]));
    await project.run("-q", "-c", "a.json");
    return ["-i", "b.txt", "-o", "rules/"];
  },
  "after a rollback": async (project) => {
    project.write("a.txt", "||a.example^\n||more.example^\n");
    await project.run("-q", "-c", "a.json");
    const { exit, stderr } = await project.run("rollback", "-c", "a.json");
    assert.equal(exit, 0, stderr);
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json"];
  },
  "after plan and apply": async (project) => {
    rmSync(join(project.folder, "rules"), { recursive: true });
    await project.run("plan", "-c", "a.json", "--save", "p.plan");
    const { exit, stderr } = await project.run("apply", "-c", "a.json", "p.plan");
    assert.equal(exit, 0, stderr);
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json"];
  },
};

for (const [name, second] of Object.entries(REFUSED))
  test(`refused: ${name}`, async (context) => {
    const project = await new TwoConfigurations(context).published();
    const words = await second(project);
    const { exit, stderr } = await project.run("-q", ...words);
    assert.match(stderr, /error\[same-file\].* is the list of .*a\.json/);
    assert.equal(exit, 2);
  });

const ACCEPTED: Readonly<Record<string, (project: TwoConfigurations) => string[]>> = {
  "a renamed configuration, edited": (project) => {
    rmSync(join(project.folder, "a.json"));
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json"];
  },
  "a copy with the same sources": (project) => {
    project.write("b.json", configOf("My list", ["a.txt"], { transformations: ["Deduplicate"] }));
    return ["-c", "b.json"];
  },
  "a copy in another folder, edited": (project) => {
    mkdirSync(join(project.folder, "next"));
    project.write("next/a.json", configOf("My list", ["a.txt", "../b.txt"]));
    return ["-c", "next/a.json"];
  },
  "the first one has another name now": (project) => {
    project.write("a.json", configOf("First", ["a.txt"]));
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json"];
  },
  "the first one is invalid now": (project) => {
    project.write("a.json", "{");
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json"];
  },
  "the list was deleted": (project) => {
    rmSync(join(project.folder, "rules/my-list.txt"));
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json"];
  },
  "a file that the user names": (project) => {
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json", "-o", "rules/my-list.txt"];
  },
  "a folder that the user names": (project) => {
    project.write("b.json", configOf("My list", ["b.txt"]));
    return ["-c", "b.json", "-o", "elsewhere/"];
  },
  "a list of the command line from a source of the first": (project) => {
    project.write("a.json", configOf("Blocklist", ["a.txt"]));
    return ["-i", "a.txt", "-o", "rules/"];
  },
  "a link to the same file": (project) => {
    project.write("a.json", configOf("My list", ["b.txt"]));
    symlinkSync("a.json", join(project.folder, "b.json"));
    return ["-c", "b.json"];
  },
};

for (const [name, second] of Object.entries(ACCEPTED))
  test(`accepted: ${name}`, async (context) => {
    const project = await new TwoConfigurations(context).published();
    const { exit, stderr } = await project.run("-q", ...second(project));
    assert.equal(exit, 0, stderr);
  });

test("accepted: a folder that was copied or moved with its lists", async (context) => {
  const project = await new TwoConfigurations(context).published();
  const copy = new TwoConfigurations(context);
  for (const one of readdirSync(project.folder))
    cpSync(join(project.folder, one), join(copy.folder, one), { recursive: true });
  copy.write("a.json", configOf("My list", ["c.txt"]));
  assert.equal(await copy.exitOf("-c", "a.json"), 0, "the copy is its own");
  const moved = join(project.folder, "moved");
  mkdirSync(moved);
  for (const one of ["a.json", "a.txt", "b.txt", "rules"])
    renameSync(join(project.folder, one), join(moved, one));
  const there = new TwoConfigurations(context, { cwd: moved });
  project.write("moved/a.json", configOf("My list", ["b.txt"]));
  assert.equal(await there.exitOf("-c", "a.json"), 0, "the first one is gone");
});
