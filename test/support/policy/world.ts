import { HostError } from "../internals.ts";
import { MemoryProject, type Said } from "../memory-project.ts";
import { isNightly } from "../nightly.ts";
import { Random } from "../random.ts";
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

export type Mishap =
  | "no network"
  | "state lost"
  | "state damaged"
  | "cache lost"
  /** All that is left is what was published. */
  | "fresh clone"
  | "clock ahead"
  | "clock behind";

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
          let answer: ReturnType<Upstream["answerTo"]>;
          if (this.hasNetwork) for (const up of this.upstreams) answer ??= up.answerTo(request.url);
          if (answer === undefined) throw new HostError("ENOTFOUND", "no such host");
          const { status, body } = answer;
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
    if (mishap === "state lost" || mishap === "fresh clone") this.forget(isState);
    if (mishap === "cache lost" || mishap === "fresh clone")
      this.forget((path) => !path.startsWith("/project/"));
    if (mishap === "state damaged") this.damage();
    const ahead =
      mishap === "clock ahead" ? 400 * DAY_MS : mishap === "clock behind" ? -400 * DAY_MS : 0;
    project.now = new Date(FIRST_DAY + day * DAY_MS + time * 14_400_000 + ahead).toISOString();
    project.write("compiler-config.json", JSON.stringify(this.config(day)));
    const said = await project.run("-q");
    const [list, domains] = [project.text("rules/home.txt"), project.text("rules/home.domains")];
    return { ...said, day, isFirst: time === 0, list, domains, mishap };
  }

  private config(day: number): object {
    const remote = this.upstreams
      .filter(({ added }) => added <= day)
      .map(({ name, url, trust, keys, mirror }) => ({
        name,
        source: url,
        ...(trust && { trust }),
        ...(keys && { key: keys.publicKey }),
        ...(mirror !== undefined && { mirrors: [mirror] }),
      }));
    return {
      name: "Home",
      sources: [{ name: "Own", source: "own.txt" }, ...remote],
      transformations: this.transformations,
      outputs: [{ format: "domains", file: "home.domains" }],
    };
  }

  /** A crash left the first half of each file. */
  private damage(): void {
    const { files } = this.project.memory;
    for (const [path, bytes] of files)
      if (isState(path)) files.set(path, bytes.slice(0, bytes.length >> 1));
  }

  private forget(isLost: (path: string) => boolean): void {
    for (const path of this.project.memory.files.keys())
      if (isLost(path)) this.project.memory.files.delete(path);
  }
}

function isState(path: string): boolean {
  return path.includes("/.rules-compiler/");
}

function mishapsOf(random: Random): ReadonlyMap<number, Mishap> {
  const usual: readonly Mishap[] = ["no network", "state lost", "cache lost", "clock ahead"];
  const all: readonly Mishap[] = isNightly
    ? [...usual, "state damaged", "fresh clone", "clock behind"]
    : usual;
  return new Map(
    all.flatMap((mishap) => (random.chance(0.4) ? [[3 + random.below(DAYS - 6), mishap]] : [])),
  );
}
