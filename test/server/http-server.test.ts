import assert from "node:assert/strict";
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { type TestContext, test } from "node:test";
import type { Answerer, OnError, WebReply } from "../../src/host/host.ts";
import { clientAddress, listenHttp } from "../../src/host/node-http-server.ts";
import { throttle } from "../../src/server/serve.ts";

interface ServerSettings {
  readonly connectionsPerClient: number;
  readonly onError: OnError;
}

async function serverOf(
  context: TestContext,
  answer: Answerer,
  {
    connectionsPerClient = 64,
    onError = (error) => assert.fail(String(error)),
  }: Partial<ServerSettings> = {},
): Promise<number> {
  const place = { address: "127.0.0.1", port: 0, connectionsPerClient };
  const server = await listenHttp(place, answer, onError);
  context.after(() => server.close());
  return server.port;
}

async function connected(context: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  context.after(() => socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function textReply(body: string): Awaited<ReturnType<Answerer>> {
  return { status: 200, headers: { "content-length": String(body.length) }, body };
}

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test("pipelined requests are answered in order, one at a time", async (context) => {
  let open = 0;
  let most = 0;
  const port = await serverOf(context, async ({ target }) => {
    most = Math.max(most, ++open);
    await new Promise((turned) => setTimeout(turned, 20));
    open--;
    return textReply(`<${target}>`);
  });
  const socket = await connected(context, port);
  let text = "";
  socket.write([1, 2, 3, 4, 5].map((number) => ask(`/${number}`)).join(""));
  for await (const piece of socket) {
    text += String(piece);
    if (text.includes("</5>")) break;
  }
  assert.deepEqual(text.match(/<[^>]+>/g), ["</1>", "</2>", "</3>", "</4>", "</5>"]);
  assert.equal(most, 1);
});

test("a connection with too many pending requests is closed, and no further request is answered", async (context) => {
  let asked = 0;
  const port = await serverOf(context, () => {
    asked++;
    return new Promise(() => {});
  });
  const socket = await connected(context, port);
  const closed = closing(socket);
  socket.write(ask("/").repeat(1000));
  await closed;
  assert.equal(asked, 1);
});

test("a client at its limit loses its oldest idle connection, and other clients lose none", async (context) => {
  const port = await serverOf(context, () => textReply("yes"), { connectionsPerClient: 3 });
  const other = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.9" });
  context.after(() => other.destroy());
  await once(other, "connect");
  const sockets: Socket[] = [];
  for (let index = 0; index < 3; index++) sockets.push(await connected(context, port));
  const closed = closing(sockets[0]!);
  const newest = await connected(context, port);
  await closed;
  newest.write(ask("/"));
  assert.match(String((await once(newest, "data"))[0]), /yes$/);
  assert.deepEqual(
    [...sockets, other].map(({ destroyed }) => destroyed),
    [true, false, false, false],
  );
});

test("large bodies arrive complete", async (context) => {
  const body = new Uint8Array(3_000_001).map((_, index) => index % 251);
  const headers = { "content-length": String(body.length) };
  const port = await serverOf(context, () => ({ status: 200, headers, body }));
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), body);
});

const BAD_HEADER: WebReply = { status: 200, headers: { "x-name": "a\nb" }, body: "" };

async function* brokenBody(): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(1);
  throw new Error("body");
}

test("whatever goes wrong in an answer is reported, and the client gets an error", async (context) => {
  const errors: string[] = [];
  const port = await serverOf(
    context,
    ({ target }) => {
      if (target === "/thrown") throw new Error("thrown");
      if (target === "/rejected") return Promise.reject(new Error("rejected"));
      if (target === "/header") return BAD_HEADER;
      if (target === "/later") return Promise.resolve(BAD_HEADER);
      return { status: 200, headers: { "content-length": "2" }, body: brokenBody() };
    },
    { onError: (error) => errors.push((error as Error).message) },
  );
  const get = async (path: string): Promise<Response> =>
    await fetch(`http://127.0.0.1:${port}${path}`);
  for (const path of ["/thrown", "/rejected", "/header", "/later"]) {
    const reply = await get(path);
    assert.equal(reply.status, 500, path);
    assert.equal(await reply.text(), "internal error\n");
  }
  await assert.rejects(async () => await (await get("/body")).text());
  assert.deepEqual([errors.slice(0, 2), errors.at(-1)], [["thrown", "rejected"], "body"]);
  assert.equal(errors.length, 5);
  for (const error of errors.slice(2, 4)) assert.match(error, /Invalid character in header/);
});

test("addresses of the same client are counted together", () => {
  for (const [address, client] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::9", "2001:db8:1:2"],
    ["2001:db8::9", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", ""],
  ] as const)
    assert.equal(clientAddress(address), client, address);
});

test("a cached value is renewed after a second, or if the clock was set back", () => {
  let now = 10_000;
  let made = 0;
  const get = throttle(
    () => now,
    () => ++made,
  );
  assert.deepEqual([get(), get()], [1, 1]);
  now += 999;
  assert.equal(get(), 1);
  now += 1;
  assert.equal(get(), 2);
  now -= 5000;
  assert.equal(get(), 3);
});
