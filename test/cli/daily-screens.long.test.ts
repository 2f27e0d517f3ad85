import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";

const FOLDER = join(import.meta.dirname, "screens", "daily");
const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
const skip = !hasTmux && "tmux is not installed";

/** What a person does in a day. `until` is a text after which the keys are pressed; otherwise the command ends by itself. */
interface Act {
  readonly name: string;
  readonly command: string;
  readonly until?: string;
  /** Whether it waits: a build from files that changed within the last seconds is not remembered, so the next run builds again. */
  readonly isLater?: true;
  readonly before?: (project: Project) => void;
}

class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "daily-"));
  readonly port: number;

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
    writeFileSync(join(this.folder, "home", file), text);
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
  { name: "compile-first", command: "rules-compiler", isLater: true },
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
  { name: "serve", command: "rules-compiler serve --port 58123", until: "next-run" },
  {
    name: "interrupted",
    command: "rules-compiler -o x.txt",
    until: "of 2.0 MB",
    before: (it) => it.configure(["a.txt", "slow.txt"]),
  },
];

/** Times, durations, ports and builds differ from run to run. */
function steady(screen: string, project: Project): string {
  return screen
    .replaceAll(`:${project.port}`, ":8000")
    .replaceAll(project.folder, "/tmp")
    .replaceAll(/\d{4}-\d\d-\d\d/g, "2026-11-15")
    .replaceAll(/\d\d:\d\d(?::\d\d)?/g, (time) => "12:00:00".slice(0, time.length))
    .replaceAll(/\b\d+\.\d+ s\b/g, "0.1 s")
    .replaceAll(/\b\d+ ms\b/g, "1 ms")
    .replaceAll(/,? \d+ s\b/g, "")
    .replaceAll(/seconds=[\d.]+/g, "seconds=0.1")
    .replaceAll(/[\d.]+ k?B\b/g, "1.0 kB")
    .replaceAll(/bytes=\d+/g, "bytes=1000")
    .replaceAll(/\s+[\w.-]+@[\w.-]+$/gm, " me@here")
    .replaceAll(/by +note/g, "by note")
    .replaceAll(/ +$/gm, "");
}

for (const columns of [80, 120])
  test(
    `the screens of a day at ${columns} columns`,
    { skip, timeout: 120_000 },
    async (context) => {
      const server = await webServer();
      const project = new Project((server.address() as AddressInfo).port);
      const socket = `daily-${process.pid}-${columns}`;
      const { CI: _ci, NO_COLOR: _color, ...env } = process.env;
      const settings = {
        ...env,
        PATH: `${join(project.folder, "bin")}:${env["PATH"]}`,
        XDG_CACHE_HOME: join(project.folder, "cache"),
        TZ: "UTC",
      };
      // Programs in tmux also see what its server was started with.
      const tmux = (...words: string[]): string =>
        execFileSync("tmux", ["-L", socket, "-f", "/dev/null", ...words], {
          encoding: "utf8",
          env: settings,
        });
      context.after(() => {
        spawnSync("tmux", ["-L", socket, "kill-server"]);
        server.closeAllConnections();
        server.close();
        rmSync(project.folder, { recursive: true, force: true });
      });
      // The server of tmux ends with its last session.
      tmux("new-session", "-d", "-s", "first", "sleep", "300");
      const wrong: string[] = [];
      for (const [index, act] of ACTS.entries()) {
        act.before?.(project);
        if (act.isLater === true) await new Promise((later) => setTimeout(later, 3000));
        const name = `act${index}`;
        const script = `trap : INT; cd '${join(project.folder, "home")}'; ${act.command}; echo "[exit $?]"; exec sleep 60`;
        tmux(
          "new-session",
          "-d",
          "-s",
          name,
          "-x",
          String(columns),
          "-y",
          "100",
          "sh",
          "-c",
          script,
        );
        const shows = async (text: string): Promise<string> => {
          for (let turn = 0; turn < 400; turn++) {
            const screen = tmux("capture-pane", "-p", "-t", name);
            if (screen.includes(text)) return screen;
            await new Promise((turned) => setTimeout(turned, 50));
          }
          throw new Error(
            `${act.name}: ${text} does not appear\n${tmux("capture-pane", "-p", "-t", name)}`,
          );
        };
        if (act.until !== undefined) {
          await shows(act.until);
          tmux("send-keys", "-t", name, "C-c");
        }
        const screen = await shows("[exit ");
        const shown = `$ ${act.command}\n${steady(screen.trimEnd(), project)}\n`;
        tmux("kill-session", "-t", name);
        const file = join(FOLDER, `${act.name}-${columns}.txt`);
        if (process.env["UPDATE_SCREENS"] !== undefined) {
          mkdirSync(FOLDER, { recursive: true });
          writeFileSync(file, shown);
        }
        if (shown !== readFileSync(file, "utf8")) wrong.push(`--- ${act.name}\n${shown}`);
      }
      assert.deepEqual(wrong, []);
    },
  );
