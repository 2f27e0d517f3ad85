import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ListComparison,
  compareName,
  effectiveDiff,
  hasChange,
} from "../../src/explain/list-change.ts";
import { PlainList } from "../../src/explain/plain-list.ts";
import { withParents } from "../../src/syntax/public-suffix.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";
import { Random } from "../support/random.ts";

const LABELS = ["a", "b", "ads"];
const DOMAINS = ["one.com", "two.net"];

/** All names of up to four labels below two domains, and the domains. */
function universe(): string[] {
  let level = DOMAINS;
  const all = [...level];
  for (let depth = 0; depth < 3; depth++) {
    level = level.flatMap((parent) => LABELS.map((label) => `${label}.${parent}`));
    all.push(...level);
  }
  return all;
}

function name(random: Random): string {
  const depth = random.below(3);
  return [...Array.from({ length: depth }, () => random.pick(LABELS)), random.pick(DOMAINS)].join(
    ".",
  );
}

function rule(random: Random): string {
  const host = name(random);
  return random.pick([
    `||${host}^`,
    `||${host}^`,
    `0.0.0.0 ${host}`,
    host,
    `@@||${host}^`,
    `||${host}^$important`,
    `@@||${host}^$important`,
    `|${host}^`,
    `||${host}^$denyallow=${name(random)}`,
    `||${host}^$badfilter`,
    `0.0.0.0 ${host} ${name(random)}`,
  ]);
}

async function listOf(rules: readonly string[]): Promise<PlainList> {
  return await PlainList.read(new TextEncoder().encode(`! list\n${rules.join("\n")}\n`));
}

function isPattern(text: string): boolean {
  return /[*/]/.test(text);
}

test("2000 random pairs of lists: the changed names match a brute-force search over all names", async () => {
  const names = universe();
  let changed = 0;
  for (let seed = 1; seed <= 2000; seed++) {
    const random = new Random(seed);
    const before = Array.from({ length: random.below(8) }, () => rule(random));
    const after = [
      ...before.filter(() => random.chance(0.7)),
      ...Array.from({ length: random.below(4) }, () => rule(random)),
    ];
    const { changes } = effectiveDiff(await listOf(before), await listOf(after));
    const [old, fresh] = [naiveRules(before), naiveRules(after)];
    const byName = new Map(changes.map((change) => [change.name, change]));
    for (const one of names) {
      const was = isBlocked(old, one);
      const is = isBlocked(fresh, one);
      const expected = was === is ? undefined : is ? "blocked" : "freed";
      const labels = one.split(".");
      const nearest = labels
        .map((_, index) => byName.get(labels.slice(index).join(".")))
        .find((change) => change !== undefined);
      const found = nearest?.name === one ? nearest.self : nearest?.below;
      assert.equal(
        found,
        expected,
        `seed ${seed}, ${one}\n${before.join("\n")}\n→\n${after.join("\n")}\n${JSON.stringify(changes)}`,
      );
      if (expected !== undefined) changed++;
    }
  }
  assert.ok(changed > 20_000, `${changed}`);
});

test("a wildcard is compared by a name that it matches, an expression by known names", async () => {
  const { changes, patterns, blocked } = effectiveDiff(
    await listOf(["||b.one.com^", "@@||x.ads.one.com^"]),
    await listOf(["||b.one.com^", "@@||x.ads.one.com^", "||ads.*.com^", "/^b\\./"]),
  );
  assert.deepEqual(patterns, ["/^b\\./"]);
  assert.deepEqual(changes, [
    { name: "||ads.*.com^", self: "blocked", below: undefined, rule: "||ads.*.com^" },
  ]);
  assert.equal(blocked, 1);
  const more = effectiveDiff(
    await listOf(["@@||q.ads.two.com^$client=1.2.3.4"]),
    await listOf(["@@||q.ads.two.com^$client=1.2.3.4", "||ads.*.com^"]),
  );
  assert.deepEqual(
    more.changes.map(({ name: one, self, below }) => [one, self, below]),
    [
      ["q.ads.two.com", "blocked", "blocked"],
      ["||ads.*.com^", "blocked", undefined],
    ],
  );
  const known = effectiveDiff(await listOf([]), await listOf(["/^b\\./"]), [
    "b.one.com",
    "c.one.com",
  ]);
  assert.deepEqual(
    known.changes.filter(({ self }) => self !== undefined).map(({ name: one }) => one),
    ["b.one.com"],
  );
});

for (const [removed, changed, self, below] of [
  ["||*.x.com^", "x.com", undefined, "freed"],
  ["*.x.com^", "x.com", undefined, "freed"],
  ["||y.com^|", "y.com", "freed", "freed"],
  ["|z.com^", "z.com", "freed", undefined],
  ["|z.com|", "z.com", "freed", undefined],
  ["||ads.*^", "||ads.*^", "freed", undefined],
  ["||*track*.net^", "||*track*.net^", "freed", undefined],
  ["-ads-", "-ads-", "freed", undefined],
  ["||xn--e1afmkfd.xn--p1ai^", "xn--e1afmkfd.xn--p1ai", "freed", "freed"],
] as const)
  test(`removing ${removed} frees names`, async () => {
    const { changes, freed } = effectiveDiff(await listOf([removed]), await listOf(["||q.com^"]));
    const change = changes.find((one) => one.name === changed);
    assert.deepEqual([change?.self, change?.below], [self, below]);
    assert.equal(freed, 1);
  });

test("a rule in other letters than ASCII matches no name in a resolver, so removing it frees none", async () => {
  const { freed } = effectiveDiff(
    await listOf(["||пример.рф^", "||q.com^"]),
    await listOf(["||q.com^"]),
  );
  assert.equal(freed, 0);
});

test("a rule with an end anchor blocks again when its exception is removed", async () => {
  const { changes } = effectiveDiff(
    await listOf(["||d.p.com^|", "@@||p.com^"]),
    await listOf(["||d.p.com^|"]),
  );
  assert.equal(changes.find(({ name: one }) => one === "d.p.com")?.self, "blocked");
});

test("a name and its subtree are one change, and an equivalent rule is not a change", async () => {
  const { added, removed, changes } = effectiveDiff(
    await listOf(["||a.one.com^", "0.0.0.0 b.one.com"]),
    await listOf(["||one.com^", "b.one.com"]),
  );
  assert.deepEqual(added, ["||one.com^", "b.one.com"]);
  assert.deepEqual(removed, ["||a.one.com^", "0.0.0.0 b.one.com"]);
  assert.deepEqual(
    changes,
    [
      // Of a.one.com nothing changed: a change of its parent would say so.
      { name: "a.one.com", self: undefined, below: undefined, rule: undefined },
      { name: "b.one.com", self: undefined, below: "blocked", rule: "||one.com^" },
      { name: "one.com", self: "blocked", below: "blocked", rule: "||one.com^" },
    ].toSorted(
      (x, y) =>
        changes.findIndex(({ name: one }) => one === x.name) -
        changes.findIndex(({ name: one }) => one === y.name),
    ),
  );
});

/** Compares the answers for all names, one by one. */
function simpleChanges(old: PlainList, fresh: PlainList, known: readonly string[]): string[] {
  const names = [...new Set([...old.names(), ...fresh.names(), ...known])];
  const found = new Map(
    names.map((one) => [
      one,
      [one, `q7-any-0z.${one}`].map((asked) => compareName(asked, old, fresh).change),
    ]),
  );
  return names
    .filter((one) => {
      const [self, below] = found.get(one)!;
      const parent = withParents(one)
        .slice(1)
        .find((above) => found.has(above));
      const change = parent === undefined ? undefined : found.get(parent)![1];
      return (self ?? below) !== undefined && !(self === change && below === change);
    })
    .map((one) => `${one} ${String(found.get(one))}`)
    .toSorted();
}

test("known names that no changed rule concerns are left out without a difference", async () => {
  const names = universe();
  const patterns = ["/^ads\\.a/", "||a.*.com^", "@@||b.*^", "/b[.]two/", "||ads.*^$badfilter"];
  let changed = 0;
  for (let seed = 1; seed <= 500; seed++) {
    const random = new Random(seed);
    const some = (count: number): string[] =>
      Array.from({ length: random.below(count) }, () =>
        random.chance(0.3) ? random.pick(patterns) : rule(random),
      );
    const before = some(6);
    const after = [...before.filter(() => random.chance(0.7)), ...some(4)];
    const known = names.filter(() => random.chance(0.4));
    const [old, fresh] = [await listOf(before), await listOf(after)];
    const changes = new ListComparison(old, fresh)
      .difference(known)
      .changes.filter((one) => !/[*/]/.test(one.name) && (one.self ?? one.below) !== undefined);
    // Without a changed pattern, the names of the lists are enough.
    const changedPatterns = [...new Set([...before, ...after])].filter(
      (text) => isPattern(text) && before.includes(text) !== after.includes(text),
    );
    const isOnlyBlocked = changedPatterns.every(
      (text) => after.includes(text) && !/^@@|badfilter/.test(text),
    );
    assert.deepEqual(
      changes.map(({ name: shown, self, below }) => `${shown} ${String([self, below])}`).toSorted(),
      simpleChanges(old, fresh, changedPatterns.length > 0 ? known : []),
      `seed ${seed}: ${before.join(" ")} → ${after.join(" ")}`,
    );
    const freed = (comparison: ListComparison): object[] =>
      comparison
        .difference(isOnlyBlocked ? [] : known)
        .changes.filter((entry) => hasChange(entry, "freed"));
    assert.deepEqual(
      freed(new ListComparison(old, fresh, true)),
      freed(new ListComparison(old, fresh)),
      `seed ${seed}`,
    );
    changed += changes.length;
  }
  assert.ok(changed > 500, String(changed));
});
