import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { foreignFormats } from "../../src/formats/readers/registry.ts";
import { readForeign } from "../support/read-foreign.ts";

test("a rule with another condition blocks nothing, wherever the condition is", async () => {
  for (const condition of [
    '"invert": true',
    '"port": 443',
    '"port": [443]',
    '"query_type": ["A"]',
    '"type": "logical", "mode": "and", "rules": [{"domain": "c.zq"}]',
    '"network": "udp"',
    '"headers": {"domain": ["d.zq"]}',
    '"port": oops',
    '"port"',
  ])
    for (const fields of [
      `${condition},\n"domain": ["b.zq"]`,
      `"domain": ["b.zq"],\n"domain_keyword": "x",\n${condition}`,
    ]) {
      const text = `{"rules": [{"domain": "a.zq"},\n{${fields}\n},\n{"domain_suffix": "z.zq"}]}\n`;
      const { rules, dropped } = await readForeign("sing-box", text);
      assert.deepEqual(rules, ["|a.zq^", "||z.zq^"], text);
      if (condition !== '"port"')
        assert.equal("bad-syntax" in dropped, condition.includes("oops"), text);
    }
  const neutral = '{"rules":[{"domain":"a.zq","invert":false,"type":"default"}]}';
  assert.deepEqual((await readForeign("sing-box", neutral)).rules, ["|a.zq^"]);
});

test("a configuration is not a rule-set", async () => {
  const rules = [{ domain: ["a.zq"], domain_suffix: "b.zq" }];
  for (const document of [
    { dns: { rules }, outbounds: [{ domain: "c.zq" }] },
    { route: { rules, rule_set: [{ rules }] } },
    rules,
    [{ rules }],
    { rules: { rules } },
    { rules: [rules] },
    { domain: ["a.zq"] },
  ]) {
    const indented = `${JSON.stringify(document, null, 1)}\n`;
    const found = await readForeign("sing-box", indented);
    assert.deepEqual(found.rules, [], indented);
    assert.deepEqual(found.dropped, { setting: indented.split("\n").length - 1 });
    assert.deepEqual((await readForeign("sing-box", JSON.stringify(document))).rules, []);
  }
});

test("each keyword and each expression has a row", async () => {
  const rule = {
    domain: "a.zq",
    domain_keyword: ["ads", "track"],
    domain_regex: ["^ads[0-9]+\\.b\\.zq$", "(", "x/$important", "x\ny"],
  };
  const { rules, dropped, lines } = await readForeign(
    "sing-box",
    JSON.stringify({ rules: [rule] }),
  );
  assert.deepEqual(rules, ["|a.zq^", "/^ads[0-9]+\\.b\\.zq$/"]);
  assert.deepEqual(dropped, { "bad-syntax": 4, "bad-regex": 1 });
  assert.equal(lines, 7);
});

test("names of a rule that does not end are not used", async () => {
  const text = '{"rules":[{"domain":["a.zq"]},\n{"domain":["b.zq",\n"c.zq"\n';
  const { rules, dropped } = await readForeign("sing-box", text);
  assert.deepEqual([rules, dropped], [["|a.zq^"], { "bad-syntax": 2 }]);
});

test("a long rule keeps the lines of its names", async () => {
  const names = Array.from({ length: 3000 }, (_, at) => `"n${at}.zq"${at % 7 === 0 ? ",\n" : ","}`);
  const text = `{"rules":[{"domain":[${names.join("\n")}\n"last.zq"]}]}\n`;
  const expected = text
    .split("\n")
    .flatMap((line, at) =>
      [...line.matchAll(/"(\w+\.zq)"/g)].map(([, name]) => `${at + 1} |${name}^`),
    );
  const found: string[] = [];
  const reader = foreignFormats.get("sing-box")!.open();
  const take = (rule: string, line: number): void => void found.push(`${line} ${rule}`);
  reader.read(encodeUtf8(text), 1, take);
  reader.end(take);
  assert.deepEqual(
    found.filter((row) => row.includes("|")),
    expected,
  );
});
