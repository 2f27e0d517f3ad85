import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { DiskProject } from "../disk-project.ts";

const SOURCES = [{ name: "A", source: "a.txt", type: "adblock" }];

/** A folder with a list and targets, in which commands run with the real git and network. */
export class TargetProject extends DiskProject {
  /** The environment of the commands; tests may change it between runs. */
  readonly env: Record<string, string | undefined>;

  constructor(context: TestContext, publish: unknown, more: object = {}) {
    const env: Record<string, string | undefined> = { PATH: process.env["PATH"] };
    super(context, { env });
    this.env = env;
    this.lines("||one.example^", "||two.example^");
    this.config(publish, more);
  }

  config(publish: unknown, more: object = {}): void {
    this.write("c.json", JSON.stringify({ name: "Home", sources: SOURCES, publish, ...more }));
  }

  lines(...lines: readonly string[]): void {
    this.write("a.txt", `${lines.join("\n")}\n`);
  }

  override write(file: string, text: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), text);
  }

  /** What git prints in a folder of the project. */
  git(folder: string, ...words: string[]): string {
    const identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"];
    const cwd = join(this.folder, folder);
    const ignored = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    const env = { ...process.env, ...ignored };
    return execFileSync("git", [...identity, ...words], { cwd, env, encoding: "utf8" }).trim();
  }
}
