import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

/** Settings with which a list has more files than its outputs have names. */
const SETTINGS: Readonly<Record<string, object>> = {
  alone: {},
  packed: { outputs: [{ format: "hosts", pack: ["gzip"] }] },
  split: { outputs: [{ format: "domains", split: { max_rules: 2 } }] },
  "with exceptions": { outputs: [{ format: "pihole" }, { format: "rpz" }] },
  "with updates": { outputs: [{ format: "rpz", updates: "127.0.0.1" }] },
  patched: { patches: "7 days" },
  released: { manifest: {}, notice: "NOTICE.txt", outputs: [{ format: "hosts", pack: ["gzip"] }] },
};

interface Hold {
  readonly written: readonly { readonly file: string; readonly files?: readonly string[] }[];
  readonly files: readonly string[];
}

class HeldProject {
  readonly project: MemoryProject;
  told = 0;

  constructor(settings: object) {
    const config = {
      name: "L",
      sources: [{ source: "a.txt", name: "A", type: "adblock" }],
      after: [{ run: ["/tell"] }],
      ...settings,
    };
    this.project = new MemoryProject(
      { "c.json": JSON.stringify(config) },
      {
        runProgram: async () => {
          this.told++;
          return { exit: 0, isLate: false, output: "", bytes: 0 };
        },
      },
    );
  }

  lines(...names: string[]): void {
    const rules = names.map((name) => `||${name}.example^\n`).join("");
    this.project.write("a.txt", `${rules}@@||free.example^\n`);
  }

  async run(...words: string[]): Promise<string> {
    const { exit, stderr } = await this.project.run(...words, "-c", "c.json");
    assert.equal(exit, 0, stderr);
    return stderr;
  }

  get hold(): Hold {
    return JSON.parse(this.project.text("rules/.rules-compiler/l.txt.hold.json")) as Hold;
  }
}

function filesOf({ written }: Hold): string[][] {
  return written.map(({ file, files }) => [file, ...(files ?? [])]);
}

for (const [name, settings] of Object.entries(SETTINGS))
  test(`a list that is held as it is has the same files for hooks: ${name}`, async () => {
    const held = new HeldProject(settings);
    const permitted = ["--no-cache", "--permit", "hooks"];
    held.lines("a", "b", "c", "d", "e");
    await held.run("compile", ...permitted);
    assert.equal(held.told, 1);
    await held.run("hold");
    for (let again = 0; again < 2; again++) {
      held.lines("a", "b", "c", "d", `new${again}`);
      assert.match(await held.run("compile", ...permitted), /held/);
      assert.equal(held.told, 1, "nothing was published");
    }
    // The same build, published again and held.
    const { hold } = held;
    await held.run("hold", "--end");
    await held.run("compile", ...permitted);
    await held.run("hold", "@1");
    assert.deepEqual(filesOf(held.hold), filesOf(hold));
    assert.deepEqual(held.hold.files, hold.files);
    // Without the state, the list is held all the same.
    await held.run("hold", "--end");
    held.project.memory.files.delete("/project/rules/.rules-compiler/l.txt.json");
    await held.run("hold");
    assert.ok(held.hold.files.length > 0);
  });
