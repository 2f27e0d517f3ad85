import { ListMatcher } from "../reference/list-matcher.ts";
import { isAtOrBelow } from "../reference/names.ts";
import { Random } from "../random.ts";
import type { RandomList } from "./random-list.ts";
import { hasEdgeHyphen } from "./random-names.ts";
import { compiledText, randomChain } from "./transformation-check.ts";
import { spelling } from "./trials.ts";

interface Entry {
  readonly text: string;
  readonly frees: (name: string) => boolean;
}

/** Whatever the rules are, a name on the allow-list is neither blocked nor rewritten. */
export async function checkAllow({ lines, names }: RandomList, seed: number): Promise<string[]> {
  const random = new Random(seed);
  const valid = names.filter((name) => !hasEdgeHyphen(name));
  const entries = random.times(1 + random.below(3), () => entryFor(random.pick(valid), random));
  const chain = randomChain(random);
  const text = await compiledText(lines, chain, { allow: entries.map((one) => one.text) });
  const list = ListMatcher.of(text);
  const faults: string[] = [];
  for (const name of names)
    for (const entry of entries) {
      if (!entry.frees(name)) continue;
      const { meaning, by } = list.decide(name);
      if (meaning !== "blocked" && meaning !== "rewritten") continue;
      const kind = `${by[0]!.shape}${spelling([by[0]!.text])}`;
      faults.push(
        `allowed ${shapeOf(entry)} ${meaning} by ${kind}: ${name} by ${by[0]!.text}, allow ${entries.map((one) => one.text).join(" ")} (${chain.join()})`,
      );
    }
  return faults;
}

function entryFor(name: string, random: Random): Entry {
  const isBelow = (one: string): boolean => one !== name && isAtOrBelow(one, name);
  return random.pick([
    { text: name, frees: (one: string) => one === name },
    { text: `||${name}^`, frees: (one: string) => isAtOrBelow(one, name) },
    { text: `*.${name}`, frees: isBelow },
  ]);
}

function shapeOf({ text }: Entry): string {
  return text.startsWith("||") ? "||name^" : text.startsWith("*.") ? "*.name" : "name";
}
