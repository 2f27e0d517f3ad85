import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_STYLE } from "../../src/diagnostics/render.ts";
import type { WebReply, WebRequest } from "../../src/host/host.ts";
import { EventLog } from "../../src/server/serve.ts";
import { ListStore, answerList } from "../../src/server/served-lists.ts";
import { type Host, memoryHost } from "../support/internals.ts";

const TEXT = "! a list\n||a.example^\n||b.example^\n";
const PATH = "/project/rules/l.txt";

/** Packs by cutting, so that forms can be told apart by their length. */
function packingHost(): Host & { files: Map<string, Uint8Array> } {
  const host = memoryHost({ files: { [PATH]: TEXT } });
  return {
    ...host,
    packFile: async (from, to, packing) => {
      const size = { gzip: 20, br: 10, zstd: 12 }[packing];
      host.files.set(to, host.files.get(from)!.slice(0, size));
    },
  };
}

async function shelfOf(host: Host): Promise<ListStore> {
  const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => true });
  const store = new ListStore(host, log);
  store.serve([PATH]);
  await store.refresh();
  await store.settled();
  return store;
}

function ask(store: ListStore, headers: Record<string, string> = {}, method = "GET"): WebReply {
  const request: WebRequest = { method, target: "/rules/l.txt", headers, address: "127.0.0.1" };
  return answerList(request, store.find("l.txt")!);
}

function bodyOf({ body }: WebReply): string {
  return typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array);
}

test("a complete response has the validators for conditional requests", async () => {
  const store = await shelfOf(packingHost());
  const reply = ask(store);
  assert.equal(reply.status, 200);
  assert.equal(bodyOf(reply), TEXT);
  assert.equal(reply.headers["content-length"], String(TEXT.length));
  assert.match(reply.headers["etag"]!, /^"[0-9a-f]{32}"$/);
  assert.equal(reply.headers["content-encoding"], undefined);
  assert.equal(ask(store, {}, "HEAD").body, "");
});

test("a client with a current copy gets 304 without a body", async () => {
  const store = await shelfOf(packingHost());
  const { etag, "last-modified": modified } = ask(store).headers;
  for (const headers of [
    { "if-none-match": etag! },
    { "if-none-match": `"x", W/${etag}` },
    { "if-none-match": "*" },
    { "if-modified-since": modified! },
    { "if-none-match": etag!, "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" },
  ]) {
    const reply = ask(store, headers);
    assert.equal(reply.status, 304, JSON.stringify(headers));
    assert.equal(reply.headers["etag"], etag);
    assert.equal(reply.body, "");
  }
  for (const headers of [
    { "if-none-match": '"other"' },
    { "if-none-match": '"other"', "if-modified-since": modified! },
    { "if-modified-since": "nonsense" },
    // The tag of a packed form is not that of the plain one.
    { "if-none-match": etag!.replace(/"$/, '-gz"') },
  ])
    assert.equal(ask(store, headers).status, 200, JSON.stringify(headers));
});

test("the client gets the smallest variant that it accepts", async () => {
  const store = await shelfOf(packingHost());
  for (const [accepted, packing] of [
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["zstd;q=1.0, gzip;q=0.5", "zstd"],
    ["br;q=0, *", "zstd"],
    ["*;q=0", undefined],
    ["identity", undefined],
    ["", undefined],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
  ] as const) {
    const { headers } = ask(store, { "accept-encoding": accepted });
    assert.equal(headers["content-encoding"], packing, accepted);
    assert.equal(headers["vary"], "accept-encoding");
  }
  const tags = ["gzip", "br", "zstd", ""].map(
    (one) => ask(store, { "accept-encoding": one }).headers["etag"],
  );
  assert.equal(new Set(tags).size, 4);
});

test("ranges of a list", async () => {
  const store = await shelfOf(packingHost());
  const size = TEXT.length;
  for (const [range, status, text, told] of [
    ["bytes=0-0", 206, "!", `bytes 0-0/${size}`],
    ["bytes=2-5", 206, TEXT.slice(2, 6), `bytes 2-5/${size}`],
    ["bytes=30-", 206, TEXT.slice(30), `bytes 30-${size - 1}/${size}`],
    ["bytes=-4", 206, TEXT.slice(-4), `bytes ${size - 4}-${size - 1}/${size}`],
    ["bytes=-9999", 206, TEXT, `bytes 0-${size - 1}/${size}`],
    ["bytes=5-99999", 206, TEXT.slice(5), `bytes 5-${size - 1}/${size}`],
    [`bytes=${size}-`, 416, "", `bytes */${size}`],
    ["bytes=-0", 416, "", `bytes */${size}`],
    ["bytes=5-2", 200, TEXT, undefined],
    ["bytes=0-1,4-5", 200, TEXT, undefined],
    ["lines=1-2", 200, TEXT, undefined],
  ] as const) {
    const reply = ask(store, { range });
    assert.equal(reply.status, status, range);
    assert.equal(bodyOf(reply), text, range);
    assert.equal(reply.headers["content-range"], told, range);
  }
  const { etag } = ask(store).headers;
  assert.equal(ask(store, { range: "bytes=0-0", "if-range": etag! }).status, 206);
  assert.equal(ask(store, { range: "bytes=0-0", "if-range": '"old"' }).status, 200);
  assert.equal(ask(store, { range: "bytes=0-0" }, "HEAD").status, 200);
});

test("a new version has new tags, and only its compressed variants are kept", async () => {
  const host = packingHost();
  const store = await shelfOf(host);
  const old = ask(store).headers["etag"];
  host.files.set(PATH, new TextEncoder().encode(`${TEXT}||c.example^\n`));
  await store.refreshNow();
  await store.settled();
  const reply = ask(store);
  assert.notEqual(reply.headers["etag"], old);
  assert.equal(bodyOf(reply), `${TEXT}||c.example^\n`);
  const packed = [...host.files.keys()].filter((path) => path.includes("packed"));
  assert.equal(packed.length, 3);
  assert.ok(packed.every((path) => path.includes(reply.headers["etag"]!.slice(1, -1))));
});

test("a list that is replaced while it is compressed is not served under the old tag", async () => {
  const host = packingHost();
  let isFirst = true;
  const store = await shelfOf({
    ...host,
    packFile: (from, to, packing) => {
      if (isFirst) host.files.set(PATH, new TextEncoder().encode("||new.example^\n"));
      isFirst = false;
      return host.packFile!(from, to, packing);
    },
  });
  assert.equal(
    ask(store, { "accept-encoding": "gzip, br, zstd" }).headers["content-encoding"],
    undefined,
  );
  assert.deepEqual(
    [...host.files.keys()].filter((path) => path.includes("packed")),
    [],
  );
});

test("a list that was removed is not served", async () => {
  const host = packingHost();
  const store = await shelfOf(host);
  host.files.delete(PATH);
  await store.refreshNow();
  assert.equal(store.find("l.txt"), undefined);
  assert.deepEqual(store.missing, ["l.txt"]);
});
