import { effectiveDiff } from "../../../src/explain/list-change.ts";
import { PlainList } from "../../../src/explain/plain-list.ts";
import { ListMatcher } from "../reference/list-matcher.ts";
import { readExactly } from "../reference/rule-syntax.ts";
import { withAncestors } from "../reference/names.ts";
import { MemoryProject } from "../memory-project.ts";
import { Random } from "../random.ts";
import { type RandomList, randomList } from "./random-list.ts";
import { spelling } from "./trials.ts";

function bytesOf(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

/** Two lists as one: a line of the old one begins with `-`, of the new one with `+`, of both with `=`. */
export function pairedList(seed: number, names: number, kept = 0.7): RandomList {
  const random = new Random(seed);
  const list = randomList(seed, { names });
  const others = randomList(seed + 1_000_000, { names: 0 }).lines;
  return {
    names: list.names,
    lines: [
      ...list.lines.map((line) => `${random.chance(kept) ? "=" : "-"}${line}`),
      ...others.filter(() => random.chance(0.3)).map((line) => `+${line}`),
    ],
  };
}

function linesOf(pair: RandomList, marks: string): string[] {
  return pair.lines.flatMap((line) => (marks.includes(line[0]!) ? [line.slice(1)] : []));
}

/** What `diff` says of names that either list knows. */
export async function checkDiff(pair: RandomList): Promise<string[]> {
  const [old, fresh] = [linesOf(pair, "-="), linesOf(pair, "+=")];
  const difference = effectiveDiff(
    await PlainList.read(bytesOf(old)),
    await PlainList.read(bytesOf(fresh)),
  );
  const changes = new Map(difference.changes.map((change) => [change.name, change]));
  const [before, after] = [new ListMatcher(old, readExactly), new ListMatcher(fresh, readExactly)];
  const faults: string[] = [];
  for (const name of new Set([...before.names(), ...after.names()])) {
    const [was, is] = [before.decide(name), after.decide(name)];
    if (was.meaning === "rewritten" || is.meaning === "rewritten") continue;
    const isBlocked = is.meaning === "blocked";
    const expected =
      (was.meaning === "blocked") === isBlocked ? undefined : isBlocked ? "blocked" : "freed";
    const parent = withAncestors(name).find((one) => changes.has(one));
    const change = parent === undefined ? undefined : changes.get(parent)!;
    const said = parent === name ? change?.self : change?.below;
    if (said === expected) continue;
    const rules = [...was.by, ...is.by].map(({ text }) => text);
    faults.push(
      `diff says ${said ?? "nothing"} where it is ${expected ?? "the same"}${spelling(rules)}: ${name} by ${rules.join(" or ")}`,
    );
  }
  return faults;
}

/** A list that promises to cover another is published only when it does, for all names that are known. */
export async function checkCovers(
  pair: RandomList,
  published: () => void = () => {},
): Promise<string[]> {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "All",
      sources: [
        { source: "light.txt", name: "L" },
        { source: "pro.txt", name: "P" },
      ],
      lists: [
        { name: "Light", sources: ["L"] },
        { name: "Pro", sources: ["P"], covers: ["Light"] },
      ],
    }),
    "light.txt": `${linesOf(pair, "-=").join("\n")}\n`,
    "pro.txt": `${linesOf(pair, "+=").join("\n")}\n`,
  });
  const { exit, stderr } = await project.run(
    "compile",
    "-q",
    "-c",
    "c.json",
    "--no-cache",
    ...["too-few-rules", "blocks-suffix", "blocks-protected"].flatMap((one) => ["--accept", one]),
  );
  if (exit !== 0 && exit !== 5) return [`compile ends with ${exit}: ${stderr}`];
  if (!project.memory.files.has("/project/rules/pro.txt")) return [];
  published();
  const [light, pro] = [
    new ListMatcher(project.text("rules/light.txt").split("\n"), readExactly),
    new ListMatcher(project.text("rules/pro.txt").split("\n"), readExactly),
  ];
  const known = new Set([...light.names(), ...pro.names()]);
  const faults: string[] = [];
  for (const name of pair.names) {
    if (!known.has(name) || !light.isBlocked(name)) continue;
    if (pro.isBlocked(name) || pro.meaning(name) === "rewritten") continue;
    const rules = light.decide(name).by.map(({ text }) => text);
    faults.push(
      `covers passes and a name is lost${spelling(rules)}: ${name} by ${rules.join(" or ")}`,
    );
  }
  return faults;
}
