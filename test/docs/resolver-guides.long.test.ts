import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { blocksOf, follow } from "../support/markdown.ts";
import { GUIDED, type Guided } from "../support/resolvers/guided.ts";
import { startInternet } from "../support/resolvers/internet.ts";
import { freePort } from "../support/resolvers/servers.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";

const PAGES = join(import.meta.dirname, "../../docs/resolvers");

/** Follows a guide with the real server. */
class Walk {
  readonly folder = mkdtempSync(join(tmpdir(), "guide-"));
  private readonly guided: Guided;
  private readonly here: (text: string) => string;
  private readonly place: { folder: string; port: number; upstream: number; control: number };

  constructor(guided: Guided, port: number, upstream: number, control: number) {
    this.guided = guided;
    this.place = { folder: this.folder, port, upstream, control };
    chmodSync(this.folder, 0o755);
    for (const name of ["bin", "rules"]) mkdirSync(join(this.folder, name));
    this.here = (text) =>
      text
        .replaceAll("/var/lib/rules", join(this.folder, "rules"))
        .replaceAll("/run/dnsmasq", this.folder)
        .replaceAll("5353", String(port));
  }

  /** Writes a file of the guide, and the server's configuration around it. */
  write(title: string, text: string): void {
    writeFileSync(join(this.folder, title), this.here(text));
  }

  /** Programs with the options of this test: the guide uses the paths of the system. */
  prepare(): void {
    const read = (title: string): string => readFileSync(join(this.folder, title), "utf8");
    const { words, control } = this.guided.configure(this.place, read);
    for (const [name, options] of Object.entries(control))
      this.program(
        name,
        `#!/bin/bash\nexec env PATH="${process.env["PATH"]}" ${name} ${options.join(" ")} "$@"\n`,
      );
    const pid = join(this.folder, "unit.pid");
    this.program(
      "systemctl",
      `#!/bin/bash
[ "$2" = '${this.guided.unit}' ] || { echo "unknown: $*" >&2; exit 5; }
if [ "$1" != start ] && [ -e '${pid}' ]; then kill "$(cat '${pid}')"; while kill -0 "$(cat '${pid}')" 2>/dev/null; do sleep 0.05; done; rm '${pid}'; fi
[ "$1" = stop ] && exit 0
cd '${this.folder}' || exit 1
setsid ${words.map((word) => `'${word}'`).join(" ")} > unit.log 2>&1 < /dev/null &
echo $! > '${pid}'
`,
    );
  }

  private program(name: string, text: string): void {
    const path = join(this.folder, "bin", name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  }

  /** Settings of earlier steps: a reader follows them all in one shell. */
  private exports = "";

  async bash(script: string): Promise<{ code: number | null; said: string }> {
    const prelude = `rules-compiler() { '${process.execPath}' '${PROGRAM}' "$@"; }\nsudo() { "$@"; }\n`;
    const exports = this.exports;
    this.exports += (script.match(/^export .*\n/gm) ?? []).join("");
    const child = spawn("bash", ["-c", prelude + this.here(exports + script)], {
      cwd: this.folder,
      env: {
        ...process.env,
        CI: "true",
        XDG_CACHE_HOME: join(this.folder, ".cache"),
        PATH: `${join(this.folder, "bin")}:${process.env["PATH"]}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Uint8Array) => (said += new TextDecoder().decode(piece)));
    return { code: await new Promise((ended) => child.on("close", ended)), said };
  }

  log(): string {
    try {
      return readFileSync(join(this.folder, "unit.log"), "utf8").slice(-2000);
    } catch {
      return "";
    }
  }

  async end(): Promise<void> {
    await this.bash(`systemctl stop '${this.guided.unit}'`);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function followGuide(name: string, guided: Guided, context: TestContext): Promise<void> {
  const internet = await startInternet();
  const walk = new Walk(guided, await freePort(), internet.port, await freeTcpPort());
  context.after(async () => {
    await walk.end();
    internet.close();
  });
  let isReady = false;
  const shown = await follow(blocksOf(readFileSync(join(PAGES, name), "utf8")), {
    write: (title, text) => walk.write(title, text),
    run: async (script) => {
      if (!isReady) walk.prepare();
      isReady = true;
      const { code, said } = await walk.bash(script);
      return { code, said: code === 0 ? said : `${said}\n${walk.log()}` };
    },
  });
  assert.ok(shown >= 2, String(shown));
}

for (const [page, guided] of Object.entries(GUIDED))
  test(
    `the guide docs/resolvers/${page} works with the real server, as it is written`,
    {
      timeout: 600_000,
    },
    async (context) => {
      await followGuide(page, guided, context);
    },
  );

test("every page about a resolver is followed", () => {
  assert.deepEqual(readdirSync(PAGES).toSorted(), Object.keys(GUIDED).toSorted());
});
