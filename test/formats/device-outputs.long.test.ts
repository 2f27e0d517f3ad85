import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import type { WrittenConfig } from "../../src/index.ts";
import { listIn } from "../support/documents.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { adguardEngine } from "../support/reference/adguard-engine.ts";

/** A device that asks. */
interface Device {
  readonly client?: string;
  readonly ip?: string;
  readonly tags?: readonly string[];
}

interface Case {
  readonly seed: number;
  readonly list: string;
  readonly file: string;
  readonly clients: readonly string[];
  readonly tags: readonly string[];
  /** Whether a rule of the list could not be combined with the devices. */
  readonly hasLoss: boolean;
}

const NAMES = ["a.example", "x.a.example", "y.x.a.example", "b.example", "x.b.example", "c.test"];
const PATTERNS = [
  ...NAMES.flatMap((name) => [`||${name}^`, `|${name}^`, name, `0.0.0.0 ${name}`]),
  "192.168.7.7 b.example c.test",
  "||*.example^",
  "/^x[.]a?/",
  "/example$/",
  "://b.example^",
];
const MODIFIERS = [
  "important",
  "dnstype=A",
  "dnstype=~A",
  "denyallow=x.a.example|c.test",
  "dnsrewrite=1.2.3.4",
  "dnsrewrite=NXDOMAIN",
  "client=192.168.1.20",
  "client=192.168.1.0/24|~192.168.1.9",
  "client='Kids\\' tablet\\, b|ue'".replace("b|ue", String.raw`b\|ue`),
  "client=~laptop",
  "ctag=user_child",
  "ctag=user_child|device_tv",
  "ctag=~device_tv",
];
const CLIENTS = ["Kids' tablet, b|ue", "laptop", "192.168.1.20", "192.168.1.0/28", "fd00::/16"];
const TAGS = ["user_child", "device_tv", "os_ios"] as const;
const DEVICES: readonly Device[] = [
  {},
  { client: "Kids' tablet, b|ue", ip: "192.168.1.9" },
  { client: "Kids' tablet, b|ue", ip: "10.0.0.1", tags: ["device_tv", "user_child"] },
  { client: "laptop", tags: ["user_child"] },
  { client: "laptop", ip: "192.168.1.20" },
  { ip: "192.168.1.20", tags: ["os_ios"] },
  { ip: "192.168.1.40", tags: ["device_tv"] },
  { ip: "fd00::1", tags: ["os_ios", "user_child"] },
];

const TYPES = ["A", "AAAA"];
const COUNT = process.env["NIGHTLY"] === "1" ? 2000 : 60;

function ruleOf(random: Random): string {
  const pattern = random.pick(PATTERNS);
  if (!/^[|/:]/.test(pattern)) return pattern;
  const count = random.below(3);
  const chosen = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const modifier = random.pick(MODIFIERS);
    chosen.set(modifier.split("=")[0]!, modifier);
  }
  // AdGuard Home rewrites by a `$badfilter` rule that has `$dnsrewrite`, too.
  if (random.below(8) === 0 && !chosen.has("dnsrewrite")) chosen.set("badfilter", "badfilter");
  const tail = chosen.size === 0 ? "" : `$${[...chosen.values()].join(",")}`;
  return `${random.below(4) === 0 ? "@@" : ""}${pattern}${tail}`;
}

async function caseOf(seed: number): Promise<Case> {
  const random = new Random(seed);
  const lines = Array.from({ length: 1 + random.below(8) }, () => ruleOf(random));
  const some = <T>(all: readonly T[]): T[] => all.filter(() => random.below(3) === 0);
  const [clients, tags] = [some(CLIENTS), some(TAGS)];
  if (clients.length + tags.length === 0) tags.push("user_child");
  const config: WrittenConfig = {
    name: "L",
    sources: ["a.txt"],
    ...(random.below(2) === 0 && { transformations: ["Compress", "Deduplicate"] }),
    outputs: [
      {
        format: "adblock",
        ...(clients.length > 0 && { clients }),
        ...(tags.length > 0 && { tags }),
      },
    ],
  };
  const project = new MemoryProject({
    "a.txt": lines.join("\n"),
    "l.json": JSON.stringify(config),
  });
  const accepted = ["--accept", "too-few-rules", "--accept", "empty-output"];
  const { exit, stdout, stderr } = await project.run("-c", "l.json", "--json", ...accepted);
  assert.equal(exit, 0, `${lines.join("\n")}\n${stderr}`);
  const { outputs } = listIn(stdout) as { outputs: { losses?: { reason: string }[] }[] };
  return {
    seed,
    list: project.text("rules/l.txt"),
    file: project.text("rules/l.adblock.txt"),
    clients,
    tags,
    hasLoss: outputs.some(({ losses = [] }) => losses.some(({ reason }) => reason === "devices")),
  };
}

/** Whether AdGuard Home counts a device among those of the file. */
function isMeant(
  { clients, tags }: Case,
  { client = "", ip = "", tags: own = [] }: Device,
): boolean {
  const ranges: Record<string, RegExp> = {
    "192.168.1.0/28": /^192\.168\.1\.(?:\d|1[0-5])$/,
    "fd00::/16": /^fd00:/,
  };
  const isNamed = clients.some((one) => one === client || one === ip || ranges[one]?.test(ip));
  return (
    (clients.length === 0 || isNamed) &&
    (tags.length === 0 || tags.some((tag) => own.includes(tag)))
  );
}

test("a file for some devices does for them what the list does, and for others nothing", async () => {
  const cases: Case[] = [];
  for (let seed = 1; seed <= COUNT; seed++) cases.push(await caseOf(seed));
  assert.ok(cases.filter(({ hasLoss }) => hasLoss).length < COUNT / 3);

  // The engine of npm knows no clients: for it, no rule of the file applies.
  const engineOf = await adguardEngine();
  for (const { seed, file } of cases) {
    const engine = engineOf(file);
    for (const name of NAMES)
      assert.equal(engine(name), "neither", `seed ${seed}: ${name}\n${file}`);
  }

  const path = process.env["URLFILTER_JUDGE"];
  if (path === undefined) return;
  const questions = DEVICES.flatMap((device) =>
    NAMES.flatMap((name) => TYPES.map((type) => ({ ...device, name, type }))),
  );
  const input = cases
    .flatMap(({ list, file }) => [list, file])
    .map((list) => JSON.stringify({ list, names: questions }))
    .join("\n");
  const { stdout, stderr } = spawnSync(path, { input, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(stderr, "");
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as string[]);
  let blocked = 0;
  for (const [index, one] of cases.entries())
    for (const [at, question] of questions.entries()) {
      const [whole, own] = [answers[index * 2]![at]!, answers[index * 2 + 1]![at]!];
      const said = `seed ${one.seed}: ${JSON.stringify(question)}\n${one.list}\n${one.file}`;
      if (!isMeant(one, question)) assert.equal(own, "neither", said);
      else if (!one.hasLoss) assert.equal(own, whole, said);
      else if (own === "blocked") assert.match(whole, /blocked|rewritten/, said);
      if (own === "blocked") blocked++;
    }
  assert.ok(blocked > COUNT * 5, `${blocked} blocked`);
});
