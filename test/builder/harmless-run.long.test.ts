import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { Buffer } from "node:buffer";
import process from "node:process";
import * as zlib from "node:zlib";
import { DiskProject } from "../support/disk-project.ts";
import { MemoryProject } from "../support/memory-project.ts";

const isPosix = process.platform !== "win32";
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
    return new Map(filesBelow(root).map((path) => [relative(root, path), latin1Of(path)]));
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

// The functions of `node:fs` do not know the encoding in Deno 2.0.
function latin1Of(path: string): string {
  return readFileSync(path).toString("latin1");
}

const manifest = (file: string): object => ({ manifest: { file } });
const combined = (file: string): object => ({
  lists: [{ name: "One" }, { name: "Two" }],
  combined: [{ format: "cdb", file }],
});
/** Every field that names a file to write. */
const FIELDS: Readonly<Record<string, (file: string) => object>> = {
  file: (file) => ({ outputs: [{ format: "hosts" }, { format: "adblock", file }] }),
  exceptions: (file) => ({ outputs: [{ format: "dnscrypt", file }] }),
  parts: (file) => ({ outputs: [{ format: "hosts", file, split: { max_rules: 100 } }] }),
  updates: (file) => ({ outputs: [{ format: "rpz", file, updates: "127.0.0.1" }] }),
  packed: (file) => ({ outputs: [{ format: "hosts", file, pack: ["gzip"] }] }),
  manifest,
  combined,
};

test("a configuration writes nothing outside the rules directory without permission", async (context) => {
  for (const [field, more] of Object.entries(FIELDS))
    for (const place of ["../home/own.conf", "/home/own.conf", "x/../../home/own.conf"]) {
      const checkout = new Checkout(context);
      const file = place.startsWith("/") ? join(checkout.folder, place) : place;
      checkout.configure(more(file));
      const before = checkout.files();
      const isFirst = place.startsWith("..");
      for (const words of [["validate"], [], ...(isFirst ? [["plan"], ["-o", "out/"]] : [])]) {
        const { exit, stderr } = await checkout.run(...words);
        const what = `${field} ${place} ${words.join(" ")}`;
        assert.equal(exit, 2, `${what}\n${stderr}`);
        assert.match(stderr, /error\[path-outside\]: .*own\.conf.* outside/s, what);
        assert.match(stderr, /c\.json:\d+:\d+/, `${what} has no place`);
        assert.match(stderr, /RULES_DIR[^]*--permit paths/, what);
        assert.deepEqual(checkout.files(), before, what);
      }
      if (!isFirst) continue;
      const alone = await checkout.run("-o", field === "combined" ? "out/" : "list.txt");
      assert.equal(alone.exit, field === "combined" ? 2 : 0, alone.stderr);
      const permitted = await checkout.run("--permit", "paths");
      assert.equal(permitted.exit, 0, permitted.stderr);
      assert.notDeepEqual(checkout.files("home"), new Map([["own.conf", "of the user\n"]]));
    }
});

test("an absolute path inside the rules directory is inside", async (context) => {
  const checkout = new Checkout(context);
  checkout.configure({
    outputs: [{ format: "hosts", file: join(checkout.folder, "rules/x/l.hosts") }],
  });
  const { exit, stderr } = await checkout.run();
  assert.equal(exit, 0, stderr);
  assert.ok(existsSync(join(checkout.folder, "rules/x/l.hosts")));
});

test("dot files are never written as outputs", async (context) => {
  for (const [field, more] of Object.entries(FIELDS))
    for (const file of [".profile", "x/.profile", ".rules-compiler/l.txt", ".git/hooks/post"]) {
      const checkout = new Checkout(context, more(file));
      for (const words of [["validate"], [], ["--permit", "paths"]]) {
        const { exit, stderr } = await checkout.run(...words);
        assert.equal(exit, 2, `${field} ${file}: ${stderr}`);
        assert.match(stderr, /error\[path-unsafe\]/);
      }
      assert.ok(!existsSync(join(checkout.folder, "rules")));
    }
});

test("folders that are links to outside count as outside", { skip: !isPosix }, async (context) => {
  const outputs = [{ format: "hosts", file: "x/y/l.hosts" }];
  for (const link of ["rules", "rules/x", "rules/x/y", "rules/.rules-compiler", "rules/patches"]) {
    const checkout = new Checkout(context, { outputs, patches: "7d" });
    mkdirSync(join(checkout.folder, link, ".."), { recursive: true });
    const elsewhere = new DiskProject(context).folder;
    symlinkSync(elsewhere, join(checkout.folder, link));
    for (const words of [["validate"], []]) {
      const { exit, stderr } = await checkout.run(...words);
      assert.equal(exit, 2, `${link}: ${stderr}`);
      assert.match(stderr, /error\[path-outside\]/, link);
      assert.deepEqual(readdirSync(elsewhere), [], link);
    }
    const permitted = await checkout.run("--permit", "paths");
    assert.equal(permitted.exit, 0, permitted.stderr);
  }
});

test(
  "a link as the target is neither followed nor replaced",
  { skip: !isPosix },
  async (context) => {
    const outputs = [{ format: "hosts", file: "l.hosts" }];
    for (const target of ["l.txt", "l.hosts", "manifest.json", "manifest.json.minisig"]) {
      const checkout = new Checkout(context, { outputs, manifest: {} });
      mkdirSync(join(checkout.folder, "rules"));
      symlinkSync("../home/own.conf", join(checkout.folder, "rules", target));
      for (const words of [["validate"], [], ["--permit", "paths"]]) {
        const { exit, stderr } = await checkout.run(...words);
        assert.equal(exit, 2, `${target}: ${stderr}`);
        assert.match(stderr, /error\[path-unsafe\]: .* is a symbolic link/, target);
      }
      assert.equal(readFileSync(join(checkout.home, "own.conf"), "utf8"), "of the user\n");
    }
  },
);

test("a folder or a pipe as the target is not replaced", { skip: !isPosix }, async (context) => {
  const outputs = [{ format: "hosts", file: "l.hosts" }];
  for (const target of ["l.txt", "l.hosts", "manifest.json"])
    for (const kind of ["folder", "pipe"]) {
      const checkout = new Checkout(context, { outputs, manifest: {} });
      const path = join(checkout.folder, "rules", target);
      mkdirSync(kind === "folder" ? path : join(path, ".."), { recursive: true });
      if (kind === "pipe") execFileSync("mkfifo", [path]);
      for (const words of [["validate"], [], ["--permit", "paths"]]) {
        const { exit, stderr } = await checkout.run(...words);
        assert.equal(exit, 2, `${target}: ${stderr}`);
        assert.match(stderr, /error\[path-unsafe\]: .* is not a regular file/, target);
      }
      const info = statSync(path);
      // Deno 2.0 does not know a FIFO.
      assert.ok(!info.isFile() && info.isDirectory() === (kind === "folder"), `${target}: ${kind}`);
    }
});

test("a changed stored build writes nothing that the configuration does not name", async (context) => {
  const outputs = [{ format: "hosts" }, { format: "rpz", updates: "127.0.0.1" }];
  const checkout = new Checkout(context, { outputs, manifest: {} });
  assert.equal((await checkout.run()).exit, 0);
  checkout.write("a.txt", `${LINES.slice(1).join("\n")}\n`);
  assert.equal((await checkout.run()).exit, 0);
  const folder = join(checkout.folder, "rules/.rules-compiler");
  // Deno 2.0 lacks zstd.
  const { gunzipSync, gzipSync, zstdDecompressSync, zstdCompressSync } = zlib as Partial<
    typeof zlib
  >;
  const drafts = readdirSync(folder).filter((one) => /\.draft\.\w+$/.test(one));
  assert.equal(drafts.length, 2);
  for (const name of drafts) {
    const [head, ...rest] = (zstdDecompressSync ?? gunzipSync!)(readFileSync(join(folder, name)))
      .toString("latin1")
      .split("\n");
    const draft = JSON.parse(head!) as { config: { outputs: object[]; manifest: object } };
    draft.config.outputs[0] = { format: "hosts", file: "../home/own.conf" };
    draft.config.outputs[1] = { format: "rpz", updates: "192.0.2.66" };
    draft.config.outputs.push({ format: "domains", file: "not-configured.txt" });
    draft.config.manifest = { file: join(checkout.home, "manifest.json") };
    const text = [JSON.stringify(draft), ...rest].join("\n");
    const bytes = Buffer.from(text, "latin1");
    writeFileSync(join(folder, name), (zstdCompressSync ?? gzipSync!)(bytes));
  }
  for (const words of [["rollback"], ["rollback", "@1", "--permit", "paths"]]) {
    const { exit, stderr } = await checkout.run(...words);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /warning\[not-rolled-back\]: .*l\.hosts/);
    assert.deepEqual(checkout.files("home"), new Map([["own.conf", "of the user\n"]]));
    assert.ok(!existsSync(join(checkout.folder, "rules/not-configured.txt")));
    const script = checkout.files("rules").get("l.rpz.nsupdate") ?? "";
    assert.ok(!script.includes("192.0.2.66"), script);
  }
});

test("a changed saved plan writes nothing outside the rules directory", async (context) => {
  const checkout = new Checkout(context, {
    outputs: [{ format: "hosts" }],
    manifest: {},
  });
  assert.equal((await checkout.run("--update")).exit, 0);
  checkout.write("a.txt", `${LINES.slice(1).join("\n")}\n`);
  const saved = await checkout.run("plan", "--update", "--save", "my.plan");
  assert.equal(saved.exit, 0, saved.stderr);
  const path = join(checkout.folder, "my.plan");
  const good = latin1Of(path);
  const [head = "", ...rest] = good.split("\n");
  interface Head {
    files: { path: string; was: null }[];
    config: { outputs: object[]; manifest: object };
    combined: object[];
    rulesDir: string;
    folder: string;
  }
  const out = join(checkout.home, "own.conf");
  const changes: Record<string, (plan: Head) => void> = {
    files: ({ files }) => void (files[0] = { ...files[0]!, path: out, was: null }),
    state: ({ files }) => void (files[0]!.path = join(checkout.folder, "rules/.l.txt")),
    output: ({ config }) => void (config.outputs = [{ format: "hosts", file: out }]),
    manifest: ({ config }) => void (config.manifest = { file: "../home/own.conf" }),
    rulesDir: (plan) => void (plan.rulesDir = checkout.home),
    lock: (plan) => void (plan.folder = checkout.home),
    combined: (plan) =>
      void plan.combined.push({
        config: { format: "cdb", file: out },
        name: out,
        files: [{ name: out, path: out }],
        lists: [],
      }),
  };
  for (const [what, change] of Object.entries(changes)) {
    const plan = JSON.parse(head) as Head;
    change(plan);
    writeFileSync(path, Buffer.from([JSON.stringify(plan), ...rest].join("\n"), "latin1"));
    const before = checkout.files();
    const { exit, stderr } = await checkout.run("apply", "my.plan");
    assert.equal(exit, 2, `${what}: ${stderr}`);
    assert.match(stderr, /error\[path-(?:outside|unsafe)\]/, what);
    assert.deepEqual(checkout.files(), before, what);
  }
  writeFileSync(path, Buffer.from(good, "latin1"));
  const { exit, stderr } = await checkout.run("apply", "my.plan");
  assert.equal(exit, 0, stderr);
});

test("-o FILE writes the list alone, and the published release stays as it is", async (context) => {
  const more = {
    outputs: [{ format: "hosts", pack: ["gzip"] }, { format: "dnscrypt" }],
    manifest: {},
    patches: "7d",
  };
  const checkout = new Checkout(context, more);
  const names = Array.from({ length: 10_000 }, (_, index) => `||n${index}.example^`);
  checkout.write("a.txt", `${names.join("\n")}\n`);
  assert.equal((await checkout.run("--update")).exit, 0);
  const published = checkout.files("rules");
  const lock = checkout.files().get("rules.lock");
  // Refused if a list is published already: devices need names below.
  checkout.write("a.txt", `${names.slice(0, 99).join("\n")}\n||ntp.org^\n`);
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
  const more = { outputs: [{ format: "hosts" }], manifest: {}, patches: "7d" };
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
  const more = { outputs: [{ format: "hosts" }], manifest: {}, patches: "7d" };
  const checkout = new Checkout(context, more);
  assert.equal((await checkout.run("--update")).exit, 0);
  const published = checkout.files("rules");
  const lock = checkout.files().get("rules.lock");
  checkout.write("a.txt", `${LINES.slice(1).join("\n")}\n`);
  for (const folder of ["out/", "out"]) {
    const { exit, stderr } = await checkout.run("-o", folder);
    assert.equal(exit, 0, stderr);
    assert.deepEqual(
      [...checkout.files("out").keys()].filter((name) => !name.startsWith(".")).toSorted(),
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
  checkout.write("a.txt", `${LINES.slice(390).join("\n")}\n||ntp.org^\n`);
  assert.equal((await checkout.run("-o", "out/")).exit, 5);
  assert.deepEqual(checkout.files("rules"), published);
  assert.equal(checkout.files().get("rules.lock"), lock);
  assert.ok(statSync(join(checkout.folder, "out")).isDirectory());
});

const readingConfig = (...sources: string[]): string =>
  JSON.stringify({
    name: "L",
    sources: ["lists/in.txt", "/project/lists/in.txt", ...sources].map((source) => ({ source })),
    allow_sources: ["/etc/allow.txt"],
    ranks: ["/etc/top.txt"],
  });

const reads = (count: number, names: string): string =>
  `note[reads-outside]: The configuration reads ${count} files outside of its folder: ${names}`;

test("files outside of the folder of the configuration are listed once", async () => {
  const files = {
    "lists/in.txt": "||in.example^\n",
    "../up.txt": "||up.example^\n",
    "/etc/own.txt": "||own.example^\n",
    "/etc/allow.txt": "nothing.example\n",
    "/etc/top.txt": "top.example\n",
    "/var/log/queries.txt": "",
  };
  const project = new MemoryProject({
    ...files,
    "compiler-config.json": readingConfig("../up.txt"),
  });
  const said = async (...words: string[]): Promise<string> => {
    const { exit, stderr } = await project.run("compile", ...words);
    assert.equal(exit, 0, stderr);
    return stderr.match(/^note\[reads-outside\]: .*$/m)?.[0] ?? "";
  };
  assert.equal(await said("-q"), reads(3, "../up.txt, /etc/allow.txt, /etc/top.txt"));
  assert.equal(await said(), "");
  project.write("compiler-config.json", readingConfig("../up.txt", "/etc/own.txt"));
  assert.equal(await said(), reads(4, "../up.txt, /etc/own.txt, /etc/allow.txt, /etc/top.txt"));
  assert.equal(await said("-q"), "");
  // What the user types is their own choice.
  project.write("compiler-config.json", "");
  const { exit, stderr } = await project.run("compile", "-i", "/etc/own.txt", "-o", "x.txt");
  assert.equal(exit, 0, stderr);
  assert.doesNotMatch(stderr, /reads-outside/);
});
