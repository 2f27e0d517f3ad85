import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cnameChain } from "../../src/resolvers/dns-client.ts";
import { DiskProject } from "../support/disk-project.ts";
import { nodeHost } from "../support/internals.ts";
import { answerTo, decoded, localResolver, udpServer } from "../support/resolvers/dns-server.ts";
import { listIn } from "../support/documents.ts";

/** A server that answers with these CNAME records, whatever the question. */
async function aliases(
  context: TestContext,
  records: readonly (readonly [string, string])[],
): Promise<number> {
  return await udpServer(context, (asked, reply) => {
    assert.equal(decoded(asked).questions![0]!.type, "A");
    reply(
      answerTo(asked, {
        answers: records.map(([name, data]) => ({ type: "CNAME", name, ttl: 1, data })),
      }),
    );
  });
}

async function chainOf(
  context: TestContext,
  ...records: readonly (readonly [string, string])[]
): Promise<string[]> {
  const port = await aliases(context, records);
  return await cnameChain("a.example", localResolver("udp", port), nodeHost());
}

test("a chain is followed in any order of the records", async (context) => {
  const chain = await chainOf(
    context,
    ["B.cdn.example", "c.tracker.example"],
    ["a.example", "b.CDN.example"],
    ["other.example", "elsewhere.example"],
  );
  assert.deepEqual(chain, ["a.example", "b.cdn.example", "c.tracker.example"]);
});

test("a chain ends at an invalid name, at a repetition and after 16 names", async (context) => {
  assert.deepEqual(await chainOf(context), ["a.example"]);
  assert.deepEqual(await chainOf(context, ["a.example", "\u001b[2J.example"]), ["a.example"]);
  assert.deepEqual(await chainOf(context, ["a.example", "a b.example"]), ["a.example"]);
  const loop = await chainOf(context, ["a.example", "b.example"], ["b.example", "a.example"]);
  assert.deepEqual(loop, ["a.example", "b.example"]);
  const many = Array.from({ length: 40 }, (_, at) => [`n${at}.example`, `n${at + 1}.example`]);
  const long = await chainOf(
    context,
    ["a.example", "n0.example"],
    ...many.map(([from, to]) => [from!, to!] as const),
  );
  assert.equal(long.length, 16);
});

test("why --resolver answers for every name of the chain", async (context) => {
  const port = await aliases(context, [["shop.example", "x.tracker.example"]]);
  const project = new DiskProject(context);
  project.write("own.txt", "||tracker.example^\n");
  const sources = [{ name: "Own", source: "own.txt", type: "adblock" }];
  const resolvers = [
    { name: "home", address: `127.0.0.1:${port}` },
    { name: "gone", address: "tcp://127.0.0.1:1" },
  ];
  project.write("c.json", JSON.stringify({ name: "List", sources, resolvers }));
  assert.equal((await project.run("-c", "c.json", "--no-cache")).exit, 0);
  const why = ["why", "-c", "c.json", "--json", "shop.example", "--resolver"];
  const { stdout, exit, stderr } = await project.run(...why, "home");
  assert.equal(exit, 0, stderr);
  const { names: answers } = listIn(stdout) as { names: { name: string; verdict: string }[] };
  assert.deepEqual(
    answers.map(({ name, verdict }) => [name, verdict]),
    [
      ["shop.example", "neither"],
      ["x.tracker.example", "blocked"],
    ],
  );
  const unknown = await project.run(...why, "nobody");
  assert.equal(unknown.exit, 2);
  assert.match(unknown.stderr, /No resolver has the name nobody[^]*home, gone/);
  const gone = await project.run(...why, "gone");
  assert.equal(gone.exit, 12);
  assert.match(gone.stderr, /gone does not answer/);
});
