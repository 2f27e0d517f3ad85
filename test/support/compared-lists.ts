import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { writeSynthetic } from "../../bench/synthetic.ts";
import { PROGRAM } from "./command.ts";

const TRANSFORMATIONS = ["RemoveComments", "Compress", "Validate", "Deduplicate"];
const TIERS = 5;
const PARTS = 60;

/** A list of synthetic names with a resolver that answers from it, to measure what compares two builds of it. */
export class ComparedLists {
  private readonly folder: string;
  private readonly server: ChildProcess;

  private constructor(folder: string, server: ChildProcess) {
    this.folder = folder;
    this.server = server;
  }

  static async start(folder: string, lines: number): Promise<ComparedLists> {
    writeSynthetic(join(folder, "source.txt"), lines);
    writeFileSync(join(folder, "list.txt"), "");
    const program = join(import.meta.dirname, "resolvers/list-server.ts");
    const server = spawn(process.execPath, [program, join(folder, "list.txt")]);
    const [port] = (await once(server.stdout, "data")) as [Buffer];
    writeJson(join(folder, "one.json"), {
      name: "One",
      sources: [{ source: "source.txt" }],
      transformations: TRANSFORMATIONS,
      resolvers: [{ name: "home", address: `127.0.0.1:${String(port).trim()}` }],
    });
    return new ComparedLists(folder, server);
  }

  /** Five tiers of sixty parts of the names: each has the sources of the one before, which it covers in the second configuration. */
  writeTiers(): void {
    const { folder } = this;
    const lines = readFileSync(join(folder, "source.txt"), "latin1").split("\n");
    const sources = Array.from({ length: PARTS }, (_, part) => {
      const source = `part-${part}.txt`;
      const [from, to] = [part, part + 1].map((one) => Math.floor((lines.length * one) / PARTS));
      writeFileSync(join(folder, source), `${lines.slice(from, to).join("\n")}\n`);
      return { name: `p${part}`, source };
    });
    for (const covers of [false, true]) {
      const lists = Array.from({ length: TIERS }, (_, tier) => ({
        name: `tier ${tier}`,
        sources: sources.slice(0, (PARTS / TIERS) * (tier + 1)).map(({ name }) => name),
        ...(covers && tier > 0 && { covers: [`tier ${tier - 1}`] }),
      }));
      const config = { name: "Tiers", sources, transformations: TRANSFORMATIONS, lists };
      writeJson(join(folder, covers ? "covers.json" : "tiers.json"), config);
      mkdirSync(join(folder, covers ? "covers" : "tiers"));
    }
  }

  /** Changes some names of the source: new ones, and one that goes. */
  change(round: number): void {
    const source = join(this.folder, "source.txt");
    const lines = readFileSync(source);
    // The line may be that of a name which another line has, too.
    lines.write("new", lines.indexOf("||", lines.length / (round + 2)) + 2);
    writeFileSync(source, lines);
    appendFileSync(source, `||new-${round}.example.com^\n0.0.0.0 new-${round}.example.org\n`);
  }

  /** The command line of a subcommand for the list. */
  command(...words: string[]): string[] {
    return this.line("one.json", words, ["-o", join(this.folder, "list.txt")]);
  }

  /** The command line that compiles the tiers, where they cover each other or not. */
  tiers(name: "covers" | "tiers"): string[] {
    const words = this.line(`${name}.json`, ["--no-cache", "-q"], ["--accept", "too-few-rules"]);
    return ["env", `RULES_DIR=${join(this.folder, name)}`, ...words];
  }

  private line(config: string, words: readonly string[], more: readonly string[]): string[] {
    return [process.execPath, PROGRAM, ...words, "-c", join(this.folder, config), ...more];
  }

  stop(): void {
    this.server.kill();
  }
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value));
}
