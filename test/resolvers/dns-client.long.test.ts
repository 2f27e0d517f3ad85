import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { setDefaultCACertificates } from "node:tls";
import { HostError } from "../../src/host/host.ts";
import { nodeHost } from "../../src/host/node.ts";
import { DnsClient } from "../../src/resolvers/dns-client.ts";
import { Random } from "../support/random.ts";
import {
  answerTo,
  decoded,
  framed,
  localResolver,
  streamServer,
  udpServer,
} from "../support/resolvers/dns-server.ts";
import { TEST_CERTIFICATE } from "../support/resolvers/test-certificate.ts";

/** For servers that do not answer. */
const LIMITS = { datagramMs: [150, 300], streamMs: 400 };
/** No question may take longer than all attempts together, with some time for a busy machine. */
const MOST_MS = 30_000;
const NAME = "ads.example.org";
const GOOD = "192.0.2.7";
const host = nodeHost();

function good(asked: Uint8Array): Uint8Array {
  return answerTo(asked, { answers: [{ type: "A", name: NAME, ttl: 1, data: GOOD }] });
}

function codeOf(code: string): (error: unknown) => boolean {
  return (error) => error instanceof HostError && error.code === code;
}

test("over UDP, only the answer to the question counts, from the address that was asked", async (context) => {
  const other = createSocket("udp4");
  context.after(() => void other.close());
  const port = await udpServer(context, (asked, reply, from) => {
    const wrongId = Buffer.from(good(asked));
    wrongId.writeUInt16BE((wrongId.readUInt16BE(0) + 1) & 0xffff, 0);
    const forged = Buffer.from(good(asked));
    forged[forged.length - 1] = 66;
    // From another port: the system drops it.
    other.send(forged, from.port, "127.0.0.1", () => {
      reply(wrongId);
      reply(Buffer.from("garbage"));
      reply(asked);
      reply(answerTo(asked, { questions: [{ type: "A", name: "other.example.org" }] }));
      reply(Buffer.from(good(asked)).subarray(0, 20));
      reply(good(asked));
    });
  });
  const client = new DnsClient(localResolver("udp", port), host);
  for (let round = 0; round < 20; round++)
    assert.deepEqual((await client.ask(NAME, "A")).addresses, [GOOD]);
});

test("datagrams that get lost are sent again with another id, from another port", async (context) => {
  const seen: { id: number | undefined; port: number }[] = [];
  const port = await udpServer(context, (asked, reply, from) => {
    seen.push({ id: decoded(asked).id, port: from.port });
    if (seen.length > 2) reply(good(asked));
  });
  const client = new DnsClient(localResolver("udp", port), host);
  assert.deepEqual((await client.ask(NAME, "A")).addresses, [GOOD]);
  assert.equal(new Set(seen.map((one) => one.port)).size, seen.length);
  assert.ok(new Set(seen.map(({ id }) => id)).size > 1);
});

test("ids and ports cannot be guessed from earlier ones", async (context) => {
  const ids: number[] = [];
  const ports: number[] = [];
  const port = await udpServer(context, (asked, reply, from) => {
    ids.push(decoded(asked).id ?? 0);
    ports.push(from.port);
    reply(good(asked));
  });
  const client = new DnsClient(localResolver("udp", port), host);
  for (let count = 0; count < 400; count++) await client.ask(NAME, "A");
  // Of 400 random numbers of 16 bits, about one is there twice.
  assert.ok(new Set(ids).size > 380, String(new Set(ids).size));
  assert.ok(new Set(ports).size > 300, String(new Set(ports).size));
  const steps = new Set(ids.slice(1).map((id, index) => (id - ids[index]! + 0x1_0000) & 0xffff));
  assert.ok(steps.size > 380, "they do not follow a step");
});

test("a truncated answer is asked for again over TCP", async (context) => {
  const port = await streamServer(context, "tcp", (asked, socket) => {
    // Byte by byte.
    for (const byte of framed(good(asked))) socket.write(Uint8Array.of(byte));
  });
  await udpServer(context, (asked, reply) => reply(answerTo(asked, { rcode: 0x0200 })), port);
  const client = new DnsClient(localResolver("udp", port), host);
  const answer = await client.ask(NAME, "A");
  assert.deepEqual(answer.addresses, [GOOD]);
  assert.equal(answer.isTruncated, false);
});

test("silence, closed ports and broken streams end in an error in time", async (context) => {
  const silent = await udpServer(context, () => {});
  const cases = new Map<string, [ReturnType<typeof localResolver>, string]>([
    ["silent UDP", [localResolver("udp", silent), "ETIMEDOUT"]],
    ["no TCP", [localResolver("tcp", silent), "ECONNREFUSED"]],
  ]);
  const streams: Readonly<Record<string, [(asked: Uint8Array) => Uint8Array | undefined, string]>> =
    {
      "silent TCP": [() => Uint8Array.of(), "ETIMEDOUT"],
      "closed without an answer": [() => undefined, "ECONNRESET"],
      "an answer that never ends": [(asked) => framed(good(asked)).subarray(0, 20), "ETIMEDOUT"],
      "a huge answer": [() => Uint8Array.of(0xff, 0xff, 1), "EPROTO"],
      "an empty answer": [() => Uint8Array.of(0, 0), "EPROTO"],
      "another id": [
        (asked) => framed(good(Uint8Array.of(asked[0]! ^ 1, ...asked.subarray(1)))),
        "EPROTO",
      ],
      "another question": [
        (asked) => framed(answerTo(asked, { questions: [{ type: "A", name: "x.example" }] })),
        "EPROTO",
      ],
    };
  for (const [title, [bytes, code]] of Object.entries(streams)) {
    const port = await streamServer(context, "tcp", (asked, socket) => {
      const sent = bytes(asked);
      if (sent === undefined) socket.end();
      else socket.write(sent);
    });
    cases.set(title, [localResolver("tcp", port), code]);
  }
  const names = localResolver("udp", 53, { address: "does-not-exist.invalid" });
  for (const [title, [resolver, code]] of cases) {
    const began = performance.now();
    const client = new DnsClient(resolver, host, LIMITS);
    await assert.rejects(client.ask(NAME, "A"), codeOf(code), title);
    assert.ok(performance.now() - began < MOST_MS, title);
  }
  await assert.rejects(new DnsClient(names, host, LIMITS).ask(NAME, "A"), HostError);
});

test("an abort ends a question at once", async (context) => {
  const port = await udpServer(context, () => {});
  const stop = new AbortController();
  const client = new DnsClient(localResolver("udp", port), host, {
    datagramMs: [60_000],
    streamMs: 60_000,
  });
  const asked = client.ask(NAME, "A", stop.signal);
  stop.abort();
  await assert.rejects(asked, codeOf("ECANCELED"));
  await assert.rejects(client.ask(NAME, "A", stop.signal), codeOf("ECANCELED"));
});

test("over TLS, the certificate must be trusted and fit the name", async (context) => {
  const port = await streamServer(context, "tls", (asked, socket) => {
    socket.write(framed(good(asked)));
  });
  const ask = async (serverName?: string): Promise<readonly string[]> => {
    const resolver = localResolver("tls", port, { serverName });
    return (await new DnsClient(resolver, host).ask(NAME, "A")).addresses;
  };
  await assert.rejects(ask("dns.example"), HostError, "nobody vouches for it yet");
  setDefaultCACertificates([TEST_CERTIFICATE]);
  assert.deepEqual(await ask("dns.example"), [GOOD]);
  assert.deepEqual(await ask(), [GOOD], "the address is in the certificate");
  await assert.rejects(ask("other.example"), codeOf("ERR_TLS_CERT_ALTNAME_INVALID"));
});

test("hostile answers over UDP and TCP never give a wrong address, and end in time", async (context) => {
  const random = new Random(11);
  const spoil = (asked: Uint8Array): Uint8Array => {
    const bytes = Buffer.from(good(asked));
    const isCut = random.below(4) === 0;
    const changed = isCut ? bytes.subarray(0, random.below(bytes.length)) : bytes;
    // Everything but the address itself.
    for (let count = random.below(6); count > 0; count--)
      if (changed.length > 0)
        changed[random.below(Math.min(changed.length, 50))] = random.below(256);
    return changed;
  };
  const udp = await udpServer(context, (asked, reply) => {
    for (let count = 0; count < 5; count++) reply(spoil(asked));
    reply(good(asked));
  });
  const tcp = await streamServer(context, "tcp", (asked, socket) => {
    socket.end(framed(spoil(asked)));
  });
  const seen = { answers: 0, errors: 0 };
  for (let count = 0; count < 150; count++) {
    const began = performance.now();
    const resolver = count % 2 === 0 ? localResolver("udp", udp) : localResolver("tcp", tcp);
    try {
      await new DnsClient(resolver, host).ask(NAME, "A");
      seen.answers++;
    } catch (error) {
      assert.ok(error instanceof HostError, String(error));
      seen.errors++;
    }
    assert.ok(performance.now() - began < MOST_MS);
  }
  assert.ok(seen.answers > 30 && seen.errors > 10, JSON.stringify(seen));
});
