import { HostError } from "../support/internals.ts";
import { MemoryProject, type Said } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { type Plot, type Upstream, upstreamsOf } from "./upstreams.ts";

export const DAYS = 30;
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 9, 1, 3);
/** Fully trusted: the user's own file. */
export const OWN_NAMES: readonly string[] = [
  "own-a.example.com",
  "own-b.example.net",
  "mesu.apple.com",
];

const STEPS = [
  "RemoveComments",
  "Compress",
  "Deduplicate",
  "Validate",
  "TrimLines",
  "RemoveModifiers",
];

/** A run of the program, and what everybody had published by then. */
export interface Run extends Said {
  readonly day: number;
  /** The first run of its day. */
  readonly isFirst: boolean;
  readonly list: string;
  readonly domains: string;
  /** What is odd about the whole run, not about one source. */
  readonly mishap: Mishap | undefined;
}

export type Mishap = "no network" | "state lost" | "cache lost" | "clock ahead";

/** A month of one user: sources that come, go and misbehave, and a run or more a day. */
export class World {
  readonly upstreams: readonly Upstream[];
  readonly project: MemoryProject;
  readonly mishaps: ReadonlyMap<number, Mishap>;
  private readonly random: Random;
  private readonly transformations: readonly string[];
  private hasNetwork = true;

  /** With plots, these happen for one night, and nothing else does. */
  constructor(seed: number, plots?: readonly Plot[]) {
    const random = new Random(seed);
    this.random = random;
    this.upstreams = upstreamsOf(random, plots, plots && 1);
    this.mishaps = plots === undefined ? mishapsOf(random) : new Map();
    this.transformations = STEPS.filter(() => random.chance(0.5));
    this.project = new MemoryProject(
      { "own.txt": OWN_NAMES.map((name) => `||${name}^\n`).join("") },
      {
        cacheDir: () => "/cache",
        fetch: async (request) => {
          const up = this.upstreams.find(({ url }) => url === request.url);
          if (!this.hasNetwork || up === undefined)
            throw new HostError("ENOTFOUND", "no such host");
          const { status, body } = up.answer();
          if (status === 200) request.take(new TextEncoder().encode(body));
          return { status, headers: { "content-type": "text/plain" } };
        },
      },
    );
  }

  /** All runs of the month, one after the other. */
  async *runs(days: number = DAYS): AsyncGenerator<Run> {
    for (let day = 0; day < days; day++) {
      const times = this.random.chance(0.2) ? 2 + this.random.below(3) : 1;
      for (let time = 0; time < times; time++) {
        for (const up of this.upstreams) up.next(day, time === 0);
        yield await this.run(day, time);
      }
    }
  }

  private async run(day: number, time: number): Promise<Run> {
    const { project } = this;
    const mishap = time === 0 ? this.mishaps.get(day) : undefined;
    this.hasNetwork = mishap !== "no network";
    if (mishap === "state lost") this.forget((path) => path.includes("/.rules-compiler/"));
    if (mishap === "cache lost") this.forget((path) => !path.startsWith("/project/"));
    const ahead = mishap === "clock ahead" ? 400 * DAY_MS : 0;
    project.now = new Date(FIRST_DAY + day * DAY_MS + time * 14_400_000 + ahead).toISOString();
    project.write("compiler-config.json", JSON.stringify(this.config(day)));
    const said = await project.run("-q");
    const [list, domains] = [project.text("rules/home.txt"), project.text("rules/home.domains")];
    return { ...said, day, isFirst: time === 0, list, domains, mishap };
  }

  private config(day: number): object {
    const remote = this.upstreams
      .filter(({ added }) => added <= day)
      .map(({ name, url, trust }) => ({ name, source: url, ...(trust && { trust }) }));
    return {
      name: "Home",
      sources: [{ name: "Own", source: "own.txt" }, ...remote],
      transformations: this.transformations,
      outputs: [{ format: "domains", file: "home.domains" }],
    };
  }

  private forget(isLost: (path: string) => boolean): void {
    for (const path of this.project.memory.files.keys())
      if (isLost(path)) this.project.memory.files.delete(path);
  }
}

function mishapsOf(random: Random): ReadonlyMap<number, Mishap> {
  const all: readonly Mishap[] = ["no network", "state lost", "cache lost", "clock ahead"];
  return new Map(
    all.flatMap((mishap) => (random.chance(0.4) ? [[3 + random.below(DAYS - 6), mishap]] : [])),
  );
}
