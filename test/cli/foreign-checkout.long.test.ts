import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { commands } from "../../src/cli/commands/registry.ts";
import { readRecorded } from "../../src/explain/recorded-rows.ts";
import { memoryHost } from "../support/internals.ts";
import { PROGRAM } from "../support/command.ts";
import { type Change, changeState, filesBelow } from "../support/foreign-state.ts";
import { isNightly } from "../support/nightly.ts";

const LINES = Array.from({ length: 400 }, (_, index) => `||n${index}.example^`);
const SECRET = "secret-of-the-user";
/** What a command writes beside the configuration because it is asked to. */
const ASKED_FOR = new Set([
  "checkout/rules.lock",
  "checkout/decisions.txt",
  "checkout/observations.txt",
]);
/** What the configuration of the checkout names, and what the program puts beside it. */
const OWN_NAMES =
  /^(?:l(?:-\d+)?\..*|manifest\.json.*|patches(?:\/.*)?|\.rules-compiler(?:\/.*)?)$/;

/**
 * A machine with files of its user, and a checkout of somebody else. Every program that the configuration could mean is a tripwire, and
 * every program that is started at all is noted.
 */
class Machine {
  readonly root: string = mkdtempSync(join(tmpdir(), "foreign-"));
  readonly checkout: string = join(this.root, "checkout");
  readonly cache: string = join(this.root, "cache");
  readonly outside: string = join(this.root, "outside");
  readonly asked: string[] = [];
  private readonly trace = join(this.root, "trace");
  private readonly web: http.Server;
  evil = "";

  constructor(context: TestContext) {
    for (const folder of ["checkout/rules", "cache", "outside", "home", "bin", "typed"])
      mkdirSync(join(this.root, folder), { recursive: true });
    for (const file of ["home/.bashrc", "outside/own.conf", "checkout/rules/notes.md"])
      writeFileSync(join(this.root, file), "of the user\n");
    writeFileSync(
      join(this.outside, "secret.txt"),
      `||${SECRET}.example^$client=${SECRET}-value\n`.repeat(2000),
    );
    for (const name of [
      "evil",
      "sh",
      "git",
      "tee",
      "curl",
      "systemctl",
      "rndc",
      "unbound-control",
    ]) {
      const file = join(this.root, "bin", name);
      writeFileSync(file, `#!/bin/sh\n: > ${join(this.root, "tripped")}\n`);
      chmodSync(file, 0o755);
    }
    this.web = http.createServer((request, response) => {
      this.asked.push(request.url ?? "");
      response.end(`0.0.0.0 web${this.asked.length}.example\n`.repeat(1));
    });
    context.after(() => {
      this.web.closeAllConnections();
      this.web.close();
      rmSync(this.root, { recursive: true, force: true });
    });
  }

  async begin(): Promise<void> {
    this.web.listen(0, "127.0.0.1");
    await once(this.web, "listening");
    this.evil = `http://127.0.0.1:${(this.web.address() as AddressInfo).port}`;
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.checkout, file), text);
  }

  configure(more: object): void {
    const config = {
      name: "L",
      sources: [
        { name: "local", source: "a.txt", type: "adblock" },
        { name: "web", source: `${this.evil}/list`, type: "hosts", allow_private: true },
      ],
      transformations: ["Compress", "Deduplicate"],
      outputs: [
        { format: "hosts", split: { max_rules: 200 }, pack: ["gzip"] },
        { format: "rpz", updates: "127.0.0.1" },
        { format: "dnscrypt" },
      ],
      manifest: {},
      patches: "7d",
      after: [
        { run: [join(this.root, "bin/evil")] },
        { run: ["evil"] },
        { post: `${this.evil}/evil` },
        { reload: "unbound" },
      ],
      resolvers: [{ name: "home", address: "127.0.0.1:9" }],
      ...more,
    };
    this.write("compiler-config.json", JSON.stringify(config, undefined, 1));
  }

  start(...words: readonly string[]): ReturnType<typeof spawn> {
    const tracer = pathToFileURL(join(import.meta.dirname, "../support/trace-programs.mjs")).href;
    const env = {
      PATH: join(this.root, "bin"),
      HOME: join(this.root, "home"),
      XDG_CACHE_HOME: this.cache,
      NODE_OPTIONS: `--import ${tracer}`,
      TRACE: this.trace,
    };
    const options = { cwd: this.checkout, env, stdio: ["ignore", "pipe", "pipe"] as const };
    return spawn(process.execPath, [PROGRAM, ...words], { ...options, stdio: [...options.stdio] });
  }

  async run(...words: readonly string[]): Promise<{ exit: number | string; said: string }> {
    const child = this.start(...words);
    let said = "";
    for (const stream of [child.stdout!, child.stderr!])
      stream.on("data", (data: Uint8Array) => (said += String(data)));
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return { exit: signal ?? code ?? -1, said };
  }

  /** Programs that were started, other than this one. */
  started(): string[] {
    if (existsSync(join(this.root, "tripped"))) return ["a tripwire"];
    if (!existsSync(this.trace)) return [];
    const lines = readFileSync(this.trace, "utf8").trimEnd().split("\n");
    return lines.filter((line) => {
      const [file, ...args] = JSON.parse(line) as string[];
      return file !== process.execPath || !args.includes(PROGRAM);
    });
  }

  /** Everything that a plain run may not change: all but the rules folder, the lock and the cache. */
  snapshot(): Map<string, string> {
    const found = new Map<string, string>();
    const walk = (folder: string): void => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        const name = relative(this.root, path);
        if (name === "trace" || name === "typed" || name === "cache") continue;
        if (ASKED_FOR.has(name)) continue;
        const inRules = name.startsWith("checkout/rules/") && name.slice("checkout/rules/".length);
        if (inRules && OWN_NAMES.test(inRules)) continue;
        const info = lstatSync(path);
        if (entry.isDirectory()) {
          found.set(name, `folder ${info.mode}`);
          walk(path);
        } else {
          const bytes = entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
          const digest = createHash("sha256").update(bytes).digest("hex");
          found.set(name, `${info.mode} ${info.mtimeMs} ${info.ino} ${digest}`);
        }
      }
    };
    walk(this.root);
    return found;
  }
}

/**
 * The words of every command, as a user would try it on a checkout: first those that read what is stored, before others replace it. What the
 * user typed is in `../typed`.
 */
const TRIED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  allow: [["n1.example"], ["--list"]],
  block: [["n1.example"]],
  alive: [
    ["--resolver", "127.0.0.1:9"],
    ["--from", "a.txt"],
  ],
  why: [["n1.example", "web1.example", `${SECRET}.example`]],
  stats: [["--fate"], ["--fate", "duplicate"], ["--html=../typed/report.html"]],
  export: [["../typed/lines.csv"]],
  diff: [["@1", "@0"]],
  log: [["--markdown"]],
  verify: [["rules/manifest.json"]],
  serve: [["serve"]],
  apply: [["my.plan"]],
  validate: [[]],
  plan: [["--save", "../typed/new.plan"]],
  compile: [["--json"], ["--frozen"], ["--update"], ["-o", "-"], ["-r", "-o", "../typed/l.txt"]],
  rollback: [["@1"]],
  hold: [["@1"], ["--end"]],
  watch: [["watch"]],
  prove: [["--wait", "0"]],
  audit: [["compiler-config.json"]],
  init: [["--from", "compiler-config.json"]],
  lint: [["a.txt"]],
  status: [["--port", "9"]],
  completions: [["bash"]],
  limits: [[]],
  help: [["plan"]],
};
/** What reads and writes state; the others are tried once. */
const STATEFUL = Object.keys(TRIED).slice(0, 16);
/** While a list is held, most commands only say so. */
const WHILE_HELD = ["serve", "compile", "watch", "rollback", "hold"];

test("every command is tried", () => {
  assert.deepEqual(Object.keys(TRIED).toSorted(), commands.map(({ name }) => name).toSorted());
});

/** A checkout with builds, a lock, a hold and a saved plan, as its owner made them. */
async function prepared(machine: Machine): Promise<void> {
  await machine.begin();
  machine.configure({});
  const evil = `#!/bin/sh\n: > ${join(machine.root, "tripped")}\n`;
  machine.write("evil", evil);
  chmodSync(join(machine.checkout, "evil"), 0o755);
  for (let build = 0; build < 3; build++) {
    machine.write("a.txt", `${LINES.slice(build).join("\n")}\n`);
    const { exit, said } = await machine.run("--update");
    assert.equal(exit, 0, said);
  }
  const serving = await runServe(machine);
  assert.match(serving, /run-ended/);
  machine.write("a.txt", `${LINES.slice(3).join("\n")}\n`);
  const saved = await machine.run("plan", "--update", "--save", "my.plan");
  assert.equal(saved.exit, 0, saved.said);
  const held = await machine.run("hold");
  assert.equal(held.exit, 0, held.said);
}

/** Starts the server, asks for pages once it has compiled, and stops it; returns all that it said. */
async function runServe(machine: Machine): Promise<string> {
  const child = machine.start("serve", "--port", "0", "--schedule", "0 0 1 1 *");
  let said = "";
  let port = 0;
  const ended = once(child, "close");
  const names = ["own.conf", "new.conf", "secret.txt", "..%2foutside%2fsecret.txt"];
  const paths = ["/", "/health", "/metrics", "/report", "/why?name=n1.example"];
  const ask = async (): Promise<void> => {
    const all = [...paths, `/why?name=${SECRET}.example`, ...names.map((one) => `/rules/${one}`)];
    for (const path of all)
      try {
        const text = await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
        said += text;
      } catch {
        // It ended before.
      }
  };
  const lines = createInterface({ input: child.stderr! });
  const heard = (event: string): Promise<void> =>
    new Promise((ready) => {
      void ended.then(() => ready());
      lines.on("line", (line) => {
        if (line.includes(`"${event}"`)) ready();
      });
    });
  lines.on("line", (line) => {
    said += `${line}\n`;
    if (line.includes('"listening"')) ({ port } = JSON.parse(line) as { port: number });
  });
  const run = heard("run-ended");
  await heard("listening");
  // What was stored, before a run replaces it.
  await ask();
  child.kill("SIGHUP");
  await run;
  await ask();
  child.kill("SIGTERM");
  await ended;
  return said;
}

async function runWatch(machine: Machine): Promise<string> {
  const child = machine.start("watch");
  let said = "";
  const ended = once(child, "close");
  const first = new Promise<void>((heard) => {
    for (const stream of [child.stdout!, child.stderr!])
      stream.on("data", (data: Uint8Array) => {
        said += String(data);
        if (/watching|held|error\[/.test(said)) heard();
      });
  });
  await Promise.race([first, ended, new Promise((late) => setTimeout(late, 15_000))]);
  child.kill("SIGINT");
  await ended;
  return said;
}

/** Tries every command, and checks after each that nothing was started and nothing written elsewhere. */
async function tryAll(machine: Machine, what: string, only: readonly string[]): Promise<void> {
  const asked = machine.asked.length;
  const before = machine.snapshot();
  const check = (name: string, said: string): void => {
    const where = `${what}: ${name}`;
    assert.deepEqual(machine.started(), [], where);
    assert.deepEqual(machine.snapshot(), before, `${where}\n${said}`);
    assert.ok(!said.includes(`${SECRET}-value`), `${where} tells a secret`);
    const evil = machine.asked.slice(asked).filter((path) => path !== "/list");
    assert.deepEqual(evil, [], `${where} asked ${evil.join(" ")}`);
  };
  for (const [command, tries] of Object.entries(TRIED)) {
    if (!only.includes(command)) continue;
    for (const words of tries) {
      const name = [command, ...words].join(" ");
      if (command === "serve") check(name, await runServe(machine));
      else if (command === "watch") check(name, await runWatch(machine));
      else {
        const { exit, said } = await machine.run(command, ...words);
        assert.notEqual(exit, 1, `${what}: ${name} has a bug: ${said}`);
        check(name, said);
      }
    }
  }
}

/** Texts that a reader might take for a path, a URL or a name of a file. */
function isPlace(text: string): boolean {
  if (/^\d|^[@|]|\s/.test(text)) return false;
  return (
    text.includes("/") ||
    /^[\w-]+(?:\.[\w-]+)*\.(?:txt|json|hosts|rpz|gz|zst|yaml|patch)$/.test(text)
  );
}

function changesFor({ outside, evil }: Machine): Readonly<Record<string, Change>> {
  const places = (...others: string[]): Change => {
    let at = 0;
    return (text) => {
      if (/^https?:/.test(text)) return `${evil}/evil`;
      return isPlace(text) ? others[at++ % others.length]! : text;
    };
  };
  return {
    "paths to write": places(
      join(outside, "own.conf"),
      "../../outside/own.conf",
      join(outside, "new.conf"),
      "../../../outside/new.conf",
      ".profile",
    ),
    "paths to read": places(join(outside, "secret.txt")),
    "digests with paths": (text) =>
      /^[0-9a-f]{64}$/.test(text) ? "../../../outside/secret.txt" : text,
  };
}

test(
  "hostile state in every file starts nothing, and writes nothing outside the rules folder",
  { timeout: 900_000, skip: process.platform === "win32" },
  async (context) => {
    const machine = new Machine(context);
    await prepared(machine);
    const kept = join(machine.root, "kept");
    const { checkout, cache } = machine;
    for (const folder of ["checkout", "cache"])
      cpSync(join(machine.root, folder), join(kept, folder), {
        recursive: true,
        preserveTimestamps: true,
      });
    for (const [index, [what, change]] of Object.entries(changesFor(machine)).entries())
      for (const isHeld of isNightly ? [true, false] : [index % 2 === 0]) {
        for (const [folder, path] of [
          ["checkout", checkout],
          ["cache", cache],
        ] as const) {
          rmSync(path, { recursive: true });
          cpSync(join(kept, folder), path, { recursive: true, preserveTimestamps: true });
        }
        const state = join(checkout, "rules/.rules-compiler");
        if (!isHeld) rmSync(join(state, "l.txt.hold.json"));
        const files = [
          ...filesBelow(state),
          ...filesBelow(cache),
          join(checkout, "my.plan"),
          join(checkout, "rules.lock"),
        ];
        const changed = files.filter((file) => changeState(file, change) > 0);
        context.diagnostic(
          `${what}${isHeld ? ", held" : ""}: ${changed.map((file) => file.split("/").at(-1)).join(" ")}`,
        );
        assert.ok(changed.length >= 3, `${what}: only ${changed.length} files`);
        await tryAll(machine, what, isHeld ? WHILE_HELD : STATEFUL);
      }
  },
);

test(
  "every other command starts nothing and writes nothing either",
  { timeout: 300_000, skip: process.platform === "win32" },
  async (context) => {
    const machine = new Machine(context);
    await machine.begin();
    machine.configure({});
    machine.write("a.txt", `${LINES.join("\n")}\n`);
    const others = Object.keys(TRIED).filter((command) => !STATEFUL.includes(command));
    await tryAll(machine, "a new checkout", [...others, "validate", "compile"]);
    // Modules of the configuration run only with permission.
    machine.configure({ plugins: ["evil.mjs"] });
    const tripped = JSON.stringify(join(machine.root, "tripped"));
    machine.write("evil.mjs", `import fs from "node:fs"; fs.writeFileSync(${tripped}, "");`);
    await tryAll(machine, "with a plugin", ["validate", "plan", "compile", "serve"]);
  },
);

test("a record selects a copy by its digest, not by a path", async () => {
  const digest = "a".repeat(64);
  const host = memoryHost({
    files: { [`/cache/objects/${digest}`]: "good", "/outside/secret.txt": SECRET },
  });
  const textOf = async (sha256: string): Promise<string | undefined> =>
    await readRecorded({ source: 0, file: "", sha256 }, "/cache", host, async (file) => {
      const bytes = new Uint8Array(file.size);
      await file.read(bytes);
      return new TextDecoder().decode(bytes);
    });
  assert.equal(await textOf(digest), "good");
  for (const path of ["../../outside/secret.txt", `${digest}/../../../outside/secret.txt`, ""])
    assert.equal(await textOf(path), undefined, path);
});
