import assert from "node:assert/strict";
import { test } from "node:test";
import { objectUrl } from "../../src/targets/s3-client.ts";
import { webhook } from "../support/hook-project.ts";
import { KEYS } from "../support/targets/swift-store.ts";
import { TargetProject } from "../support/targets/target-project.ts";

const PUBLISH = ["-c", "c.json", "--publish"];

// Swift knows no conditions, so a server of our own answers as the documentation of AWS says.
test("the manifest is sent on condition that it is still the one that was seen", async (t) => {
  let etag: string | undefined;
  let isReplaced = false;
  const { base, received } = await webhook(t, ({ method, url, headers }) => {
    if (!url.endsWith("/manifest.json")) return method === "HEAD" ? { status: 404 } : {};
    if (method === "HEAD") return etag === undefined ? { status: 404 } : { headers: { etag } };
    // Somebody else was faster.
    if (isReplaced) etag = '"theirs"';
    const { "if-match": match, "if-none-match": none } = headers;
    if (match === undefined ? none !== "*" || etag !== undefined : match !== etag)
      return { status: 412, body: "<Error><Code>PreconditionFailed</Code></Error>" };
    etag = '"ours"';
    return {};
  });
  const s3 = { endpoint: base, bucket: "lists" };
  const project = new TargetProject(t, [{ s3 }], { manifest: {} });
  Object.assign(project.env, KEYS);
  const conditions = (): (string | undefined)[] =>
    received
      .filter(({ method, url }) => method === "PUT" && url.endsWith("/manifest.json"))
      .map(({ headers }) => String(headers["if-match"] ?? headers["if-none-match"]));
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.deepEqual(conditions(), ["*", '"ours"']);
  isReplaced = true;
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(stderr, /another client replaced manifest\.json at the same time/);
  assert.equal(etag, '"theirs"');
});

test("a manifest that arrived before the store failed is not that of another publisher", async (t) => {
  let stored: Readonly<Record<string, string>> | undefined;
  let isOurs = true;
  let count = 0;
  const { base } = await webhook(t, ({ method, url, headers }) => {
    if (!url.endsWith("/manifest.json")) return method === "HEAD" ? { status: 404 } : {};
    if (method === "HEAD") return stored === undefined ? { status: 404 } : { headers: stored };
    if (count++ > 0) return { status: 412 };
    const names = ["content-type", "cache-control", "x-amz-meta-sha256"];
    stored = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    if (!isOurs) stored = { ...stored, "x-amz-meta-sha256": "theirs" };
    return { status: 503 };
  });
  const project = new TargetProject(t, [{ s3: { endpoint: base, bucket: "lists" } }], {
    manifest: {},
  });
  Object.assign(project.env, KEYS);
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.equal(count, 2);
  assert.match(stderr, /2 files, 2 of them sent/);
  [stored, isOurs, count] = [undefined, false, 0];
  const other = await project.run(...PUBLISH);
  assert.equal(other.exit, 13);
  assert.match(other.stderr, /another client replaced manifest\.json at the same time/);
});

test("the bucket is in the path or in the host name", () => {
  const config = { endpoint: "https://store.example:9000", bucket: "lists", prefix: "a b/" };
  assert.equal(
    objectUrl(config, "list(1).txt").href,
    "https://store.example:9000/lists/a%20b/list%281%29.txt",
  );
  assert.equal(
    objectUrl({ ...config, path_style: false }, "list.txt").href,
    "https://lists.store.example:9000/a%20b/list.txt",
  );
  assert.match(objectUrl(config, "\ud800.txt").pathname, /\/%EF%BF%BD\.txt$/);
});

test("a busy store is asked again", async (t) => {
  let count = 0;
  const { base } = await webhook(t, ({ method }) => {
    if (method === "HEAD") return { status: 404 };
    return { status: count++ === 0 ? 503 : 200 };
  });
  const project = new TargetProject(t, [{ s3: { endpoint: base, bucket: "lists" } }]);
  Object.assign(project.env, KEYS);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.equal(count, 2);
});

test("what a store says is safe to print", async (t) => {
  const { base } = await webhook(t, ({ method }) => {
    if (method === "HEAD") return { status: 404 };
    return {
      status: 400,
      body: "<Error><Code>Bad\u001b[31m</Code><Message>x\ny</Message></Error>",
    };
  });
  const project = new TargetProject(t, [{ s3: { endpoint: base, bucket: "lists" } }]);
  Object.assign(project.env, KEYS);
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.ok(!stderr.includes("\u001b"));
  assert.match(stderr, /status 400, Bad\\u\{1b\}\[31m: x\\u\{a\}y/);
});
