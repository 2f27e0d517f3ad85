import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { PROGRAM } from "../support/command.ts";

const FOLDER = join(import.meta.dirname, "screens", "daily");
const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
const skip = !hasTmux && "tmux is not installed";

/** What a person does in a day. `until` is a text after which the keys are pressed; otherwise the command ends by itself. */
interface Act {
  readonly name: string;
  readonly command: string;
  readonly until?: string;
  readonly before?: (project: Project) => void;
}

class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "daily-"));
  readonly port: number;
  /** When a file was written, in seconds. A build from files that changed within the last seconds is not remembered, so they are older. */
  private time = Math.floor(Date.now() / 1000) - 3600;

  constructor(port: number) {
    this.port = port;
    mkdirSync(join(this.folder, "bin"));
    mkdirSync(join(this.folder, "home"));
    mkdirSync(join(this.folder, "empty"));
    const program = join(this.folder, "bin", "rules-compiler");
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    chmodSync(program, 0o755);
    this.write("own.txt", "||ads.example.org^\n||track.example.org^\n");
    this.configure(["a.txt", "b.txt"]);
  }

  write(file: string, text: string): void {
    const path = join(this.folder, "home", file);
    writeFileSync(path, text);
    this.time += 60;
    utimesSync(path, this.time, this.time);
  }

  /** Waits until what was written is so old that a build from it is remembered. */
  settle(): void {
    const written = statSync(join(this.folder, "home/compiler-config.yaml")).ctimeMs;
    const rest = written + 2100 - Date.now();
    if (rest > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, rest);
  }

  configure(lists: readonly string[]): void {
    const sources = lists.map(
      (file) =>
        `  - name: List ${file[0]!.toUpperCase()}\n    source: http://127.0.0.1:${this.port}/${file}\n    allow_private: true\n`,
    );
    this.write(
      "compiler-config.yaml",
      `name: Home\nsources:\n  - source: own.txt\n${sources.join("")}`,
    );
  }
}

function listOf(name: string): string {
  const rules = Array.from({ length: 200 }, (_, index) => `||${name}${index}.example.com^\n`);
  return `! Title: List ${name}\n${rules.join("")}||shared.example.net^\n||com^\n`;
}

function webServer(): Promise<Server> {
  const server = createServer((request, response) => {
    const name = /^\/([a-z]+)\.txt$/.exec(request.url ?? "")?.[1] ?? "";
    if (name === "gone") response.writeHead(404).end();
    else if (name === "slow")
      response.writeHead(200, { "content-length": "2000000" }).write("||a.example^\n");
    else response.end(listOf(name));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const ACTS: readonly Act[] = [
  { name: "first-start", command: "cd ../empty && rules-compiler" },
  { name: "help", command: "rules-compiler -h" },
  { name: "compile-help", command: "rules-compiler compile -h" },
  { name: "plan-first", command: "rules-compiler plan" },
  { name: "compile-first", command: "rules-compiler", before: (it) => it.settle() },
  { name: "compile-unchanged", command: "rules-compiler" },
  {
    name: "plan",
    command: "rules-compiler plan",
    before: (it) => it.write("own.txt", "||ads.example.org^\n||new.example.org^\n"),
  },
  { name: "plan-save", command: "rules-compiler plan --save my.plan" },
  { name: "apply", command: "rules-compiler apply my.plan" },
  {
    name: "compile-changed",
    command: "rules-compiler",
    before: (it) =>
      it.write("own.txt", "||ads.example.org^\n||new.example.org^\n||more.example.org^\n"),
  },
  { name: "quiet", command: "rules-compiler -q" },
  { name: "why-blocked", command: "rules-compiler why a1.example.com" },
  { name: "why-not-blocked", command: "rules-compiler why example.net" },
  {
    name: "allow",
    command: "rules-compiler allow https://A1.example.com/shop --reason 'The shop needs it'",
  },
  { name: "block", command: "rules-compiler block casino.example.net --until 2099-12-31" },
  { name: "decisions", command: "rules-compiler allow --list" },
  { name: "allow-remove", command: "rules-compiler allow --remove a1.example.com" },
  { name: "convert", command: "rules-compiler -i own.txt --to unbound -o own.conf" },
  { name: "audit", command: "rules-compiler audit compiler-config.yaml" },
  {
    name: "add-a-list",
    command: "rules-compiler",
    before: (it) => it.configure(["a.txt", "b.txt", "c.txt"]),
  },
  { name: "stats", command: "rules-compiler stats" },
  { name: "lines", command: "rules-compiler stats --fate" },
  { name: "log", command: "rules-compiler log" },
  { name: "diff", command: "rules-compiler diff @1 @0" },
  { name: "rollback", command: "rules-compiler rollback" },
  { name: "hold", command: "rules-compiler hold" },
  { name: "hold-end", command: "rules-compiler hold --end" },
  {
    name: "dead-source",
    command: "rules-compiler",
    before: (it) => it.configure(["a.txt", "b.txt", "c.txt", "gone.txt"]),
  },
  {
    name: "remove-a-dead-one",
    command: "rules-compiler",
    before: (it) => it.configure(["a.txt", "b.txt", "c.txt"]),
  },
  { name: "offline", command: "rules-compiler --offline" },
  {
    name: "validate-error",
    command: "rules-compiler validate",
    before: (it) => it.write("compiler-config.yaml", "name: Home\nsource:\n  - own.txt\n"),
  },
  {
    name: "prove",
    command: "rules-compiler prove",
    before: (it) => it.configure(["a.txt", "b.txt"]),
  },
  { name: "status", command: "rules-compiler status --port 9" },
  { name: "serve", command: "rules-compiler serve --port 0", until: "next-run" },
  {
    name: "interrupted",
    command: "rules-compiler -o x.txt",
    until: "of 2.0 MB",
    before: (it) => it.configure(["a.txt", "slow.txt"]),
  },
];

/** Times, durations, ports, users and builds differ from run to run. */
function steady(screen: string, project: Project): string {
  return (
    screen
      .replaceAll(`:${project.port}`, ":8000")
      .replaceAll(/(?<=127\.0\.0\.1:)(?!8000)\d{4,}/g, "58123")
      .replaceAll(project.folder, "/tmp")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "2026-11-15")
      .replaceAll(/\d\d:\d\d(?::\d\d)?/g, (time) => "12:00:00".slice(0, time.length))
      .replaceAll(/\b\d+\.\d+ s\b/g, "0.1 s")
      .replaceAll(/\b\d+ ms\b/g, "1 ms")
      .replaceAll(/,? \d+ s\b/g, "")
      .replaceAll(/seconds=[\d.]+/g, "seconds=0.1")
      .replaceAll(/[\d.]+ k?B\b/g, "1.0 kB")
      .replaceAll(/bytes=\d+/g, "bytes=1000")
      // Where a line ends depends on the length of the name.
      .replaceAll(/\s+[\w.-]+@[\w.-]+ */g, " me@here ")
      .replaceAll(/(?<= me@here .*)\n {6}/g, " ")
      .replaceAll(/by +note/g, "by note")
      .replaceAll(/ +$/gm, "")
  );
}

const run = promisify(execFile);

/** A server of tmux, whose sessions are terminals. */
class Terminals {
  private readonly socket: string;
  private readonly env: NodeJS.ProcessEnv;

  constructor(columns: number, project: Project) {
    this.socket = `daily-${process.pid}-${columns}`;
    // Programs in tmux also see what its server was started with.
    const { CI: _ci, NO_COLOR: _color, TMUX: _tmux, ...env } = process.env;
    this.env = {
      ...env,
      PATH: `${join(project.folder, "bin")}:${env["PATH"]}`,
      XDG_CACHE_HOME: join(project.folder, "cache"),
      TZ: "UTC",
    };
  }

  async tmux(...words: string[]): Promise<string> {
    const { env } = this;
    return (await run("tmux", ["-L", this.socket, "-f", "/dev/null", ...words], { env })).stdout;
  }

  /** The screen as soon as it has the text. */
  async shows(session: string, text: string): Promise<string> {
    const latest = Date.now() + 60_000;
    for (;;) {
      const screen = await this.tmux("capture-pane", "-p", "-t", session);
      if (screen.includes(text)) return screen;
      if (Date.now() > latest) throw new Error(`${session}: no "${text}"\n${screen.trimEnd()}`);
      await new Promise((turned) => setTimeout(turned, 100));
    }
  }

  /** The screen of an act at its end. */
  async screenOf({ name, command, until }: Act, columns: number, home: string): Promise<string> {
    const script = `trap : INT; cd '${home}'; ${command}; echo "[exit $?]"; tmux wait-for -S ${name}; exec sleep 600`;
    const size = ["-x", String(columns), "-y", "100"];
    await this.tmux("new-session", "-d", "-s", name, ...size, "sh", "-c", script);
    if (until !== undefined) {
      await this.shows(name, until);
      await this.tmux("send-keys", "-t", name, "C-c");
    }
    await this.tmux("wait-for", name);
    const screen = await this.shows(name, "[exit ");
    await this.tmux("kill-session", "-t", name);
    return screen;
  }

  end(): void {
    spawnSync("tmux", ["-L", this.socket, "kill-server"]);
  }
}

/** The acts whose screens are no longer those of the files. */
async function changedScreens(columns: number, context: TestContext): Promise<string[]> {
  const server = await webServer();
  const project = new Project((server.address() as AddressInfo).port);
  const terminals = new Terminals(columns, project);
  context.after(() => {
    terminals.end();
    server.closeAllConnections();
    server.close();
    rmSync(project.folder, { recursive: true, force: true });
  });
  // The server of tmux ends with its last session.
  await terminals.tmux("new-session", "-d", "-s", "first", "sleep", "600");
  const wrong: string[] = [];
  for (const act of ACTS) {
    act.before?.(project);
    const screen = await terminals.screenOf(act, columns, join(project.folder, "home"));
    const shown = `$ ${act.command}\n${steady(screen.trimEnd(), project)}\n`;
    const file = join(FOLDER, `${act.name}-${columns}.txt`);
    if (process.env["UPDATE_SCREENS"] !== undefined) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, shown);
    }
    if (shown !== readFileSync(file, "utf8")) wrong.push(`--- ${act.name}\n${shown}`);
  }
  return wrong;
}

test("the screens of a day, at 80 and 120 columns", { skip, timeout: 300_000 }, async (context) => {
  assert.ok(ACTS.length >= 25, String(ACTS.length));
  const widths = [80, 120].map((columns) => changedScreens(columns, context));
  assert.deepEqual((await Promise.all(widths)).flat(), []);
});
