import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { AnswerWatch } from "../../src/resolvers/answer-watch.ts";
import { HostError } from "../../src/host/host.ts";
import { nodeHost } from "../support/internals.ts";
import { answerTo, decoded, localResolver, udpServer } from "../support/resolvers/dns-server.ts";

/** A server that can fall silent, as one that reads a large list. */
async function startServer(context: TestContext): Promise<{ port: number; isSilent: boolean }> {
  const server = { port: 0, isSilent: false };
  server.port = await udpServer(context, (asked, reply) => {
    if (!server.isSilent) reply(answerTo(asked, { rcode: 3 }));
  });
  return server;
}

test("the longest time without an answer is measured for each resolver", async (context) => {
  const [quick, slow] = [await startServer(context), await startServer(context)];
  const resolvers = [
    localResolver("udp", quick.port, { name: "quick" }),
    localResolver("udp", slow.port, { name: "slow" }),
    localResolver("tcp", 1, { name: "gone" }),
  ];
  const start = performance.now();
  const watch = new AnswerWatch(resolvers, nodeHost());
  await sleep(300);
  const silent = performance.now();
  slow.isSilent = true;
  await sleep(1100);
  slow.isSilent = false;
  const silence = performance.now() - silent;
  await sleep(700);
  const [one, two, three] = resolvers.map((resolver) => watch.unansweredMs(resolver)!);
  const whole = performance.now() - start;
  await watch.stop();
  // The first question is asked, and the last answer arrives, a little later.
  const late = 700;
  assert.ok(one! < late, `${one} ms`);
  assert.ok(two! > silence - late && two! < silence + late, `${two} of ${silence} ms`);
  assert.ok(three! > whole - late, `${three} of ${whole} ms`);
  assert.equal(watch.unansweredMs({ name: "quick", list: "Another" }), null);
});

test("a thousand resolvers are asked two hundred questions a second, one at a time each", async () => {
  let [asked, open, most] = [0, 0, 0];
  const host = {
    ...nodeHost(),
    exchange: async () => {
      asked++;
      most = Math.max(most, ++open);
      await sleep(5);
      open--;
      throw new HostError("ETIMEDOUT", "no answer");
    },
  };
  const resolvers = Array.from({ length: 1000 }, (_, index) =>
    localResolver("udp", 53, { name: `r${index}` }),
  );
  const watch = new AnswerWatch(resolvers, host);
  await sleep(1500);
  await watch.stop();
  assert.ok(asked <= 1000 && most <= 200, `${asked} questions, ${most} at once`);
});

test("what is asked for is in no list", async (context) => {
  const names = new Set<string>();
  const port = await udpServer(context, (asked, reply) => {
    names.add(decoded(asked).questions![0]!.name);
    reply(answerTo(asked, { rcode: 3 }));
  });
  const watch = new AnswerWatch([localResolver("udp", port)], nodeHost());
  await sleep(350);
  await watch.stop();
  assert.ok(names.size >= 2, "a cached answer is no answer");
  for (const name of names) assert.match(name, /^w-[0-9a-f]{12}\.canary\.rules-compiler\.example$/);
});
