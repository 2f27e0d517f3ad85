import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { webOf } from "../support/web-of.ts";

const URLS = { big: "https://a.example.org/list.txt", small: "https://b.example.org/list.txt" };
const WHERE = ["-c", "c.json"] as const;
const DAYS = ["good", "other", "few", "gone", "format"] as const;
type Day = (typeof DAYS)[number];

/** What a run leaves. */
interface Left {
  readonly told: readonly string[];
  readonly [what: string]: unknown;
}

/** A list, or two, that a compile or an apply publishes every day. */
class DailyProject {
  readonly project: MemoryProject;
  private readonly told: string[] = [];
  private readonly answers: Record<string, string> = {};
  private readonly lists: readonly string[];
  private day = 0;

  constructor(lists: readonly string[]) {
    this.lists = lists;
    const web = webOf(this.answers);
    const config = {
      name: lists[0],
      sources: Object.entries(URLS).map(([name, source]) => ({ name, source, type: "adblock" })),
      guards: { min_rules: 3 },
      outputs: [{ format: "rpz", on_loss: "fail" }],
      after: [{ run: ["/tell"], on: ["published", "degraded", "refused", "failed", "recovered"] }],
    };
    const several = { ...config, lists: lists.map((name) => ({ name, outputs: config.outputs })) };
    const { outputs: _outputs, ...all } = several;
    this.project = new MemoryProject(
      { "c.json": JSON.stringify(lists.length === 1 ? config : all) },
      {
        ...web,
        runProgram: async ({ input }) => {
          const { list, event } = JSON.parse(input) as Record<string, string>;
          this.told.push(`${list} ${event}`);
          return { exit: 0, isLate: false, output: "", bytes: 0 };
        },
      },
    );
  }

  /** What a day does to the sources. */
  begin(day: Day): void {
    this.day++;
    this.project.now = new Date(Date.UTC(2026, 10, 10 + this.day)).toISOString();
    const rules = Array.from({ length: day === "few" ? 1 : 8 }, (_, at) => `||n${at}.example^`);
    if (day === "other") rules.push("||other.example^");
    if (day === "format") rules.push("/x[0-9]/");
    this.answers[URLS.big] = `${rules.join("\n")}\n`;
    this.answers[URLS.small] = "||small.example^\n";
    if (day === "gone") delete this.answers[URLS.small];
  }

  /** Publishes, and says what is left. */
  async publish(how: "compile" | "apply"): Promise<Left> {
    this.told.length = 0;
    const { project } = this;
    if (how === "apply") await project.run("plan", ...WHERE, "--save", "my.plan");
    const words = how === "apply" ? ["apply", "my.plan", ...WHERE] : [...WHERE];
    const { exit, stderr } = await project.run(...words, "--permit", "hooks");
    const files = [...project.memory.files.keys()];
    return {
      exit,
      codes: [...stderr.matchAll(/^(?:error|warning)\[(?<code>[a-z-]+)\]/gm)].map(([all]) => all),
      told: [...this.told],
      needed: files.filter((path) => path.includes("/needed/")).length,
      lists: this.lists.map((list) => this.stateOf(list)),
    };
  }

  private stateOf(list: string): object {
    const text = (name: string): string => this.project.text(`rules/${name}`);
    const log = text(`.rules-compiler/${list}.txt.log.jsonl`).trim().split("\n").filter(Boolean);
    const conditions = text(`.rules-compiler/${list}.txt.conditions.json`) || '{"conditions":[]}';
    const { conditions: all } = JSON.parse(conditions) as { conditions: { code: string }[] };
    return {
      text: text(`${list}.txt`),
      log: log.map((line) => {
        const { event, what, guards, rules, from } = JSON.parse(line) as Record<string, unknown>;
        return { event, what, guards, rules, from };
      }),
      conditions: all.map(({ code }) => code).toSorted(),
    };
  }
}

test("a plan that is saved and applied leaves what a compile leaves, also if it is refused", async (context) => {
  const seed = seedFrom(process.env["SEED"]);
  const random = new Random(seed);
  const seen = new Map<string, number>();
  for (let round = 0; round < (isNightly ? 60 : 4); round++) {
    const lists = round % 2 === 0 ? ["one"] : ["one", "two"];
    const [compiled, applied] = [new DailyProject(lists), new DailyProject(lists)];
    const history: Day[] = [];
    for (let step = 0; step < 5; step++) {
      const day = random.pick(DAYS);
      history.push(day);
      for (const one of [compiled, applied]) one.begin(day);
      const wanted = await compiled.publish("compile");
      const found = await applied.publish("apply");
      assert.deepEqual(found, wanted, `seed ${seed}: ${lists.length} lists, ${history.join(", ")}`);
      for (const told of found.told.map((one) => one.split(" ")[1]!))
        seen.set(told, (seen.get(told) ?? 0) + 1);
    }
  }
  context.diagnostic([...seen].map(([event, times]) => `${event} ${times}`).join(", "));
  for (const event of ["published", "refused", "recovered"])
    assert.ok(seen.has(event), `${seed}: no hook was told of ${event}`);
});
