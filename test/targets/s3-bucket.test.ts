import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { KEYS, REGION, SwiftStore } from "../support/targets/swift-store.ts";
import { TargetProject } from "../support/targets/target-project.ts";

const PUBLISH = ["-c", "c.json", "--publish"];
const BUCKET = "example-lists";
const FOLDER = `/${BUCKET}/dns/a%20b`;

interface Place {
  readonly store: SwiftStore;
  readonly project: TargetProject;
  readonly s3: Readonly<Record<string, unknown>>;
}

async function placeOf(context: TestContext, more: object = {}): Promise<Place> {
  const store = await SwiftStore.start(context);
  assert.equal((await store.request("PUT", `/${BUCKET}`)).status, 200);
  const s3 = { endpoint: store.endpoint, bucket: BUCKET, region: REGION, prefix: "dns/a b" };
  const project = new TargetProject(context, [{ s3 }], more);
  Object.assign(project.env, KEYS);
  return { store, project, s3 };
}

test("a bucket gets the published files, and only what differs is sent again", async (t) => {
  const { store, project, s3 } = await placeOf(t, { outputs: [{ format: "hosts" }] });
  const first = await project.run(...PUBLISH);
  assert.equal(first.exit, 0, first.stderr);
  assert.match(
    first.stderr,
    /^published s3:\/\/example-lists\/dns\/a b: 2 files, 2 of them sent, /m,
  );
  const stored = await store.request("GET", `${FOLDER}/home.txt`);
  assert.equal(stored.text, project.text("rules/home.txt"));
  assert.equal(stored.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(stored.headers.get("cache-control"), "no-cache");

  await t.test("a run without a change sends nothing", async () => {
    store.asked.length = 0;
    const { exit, stderr } = await project.run(...PUBLISH);
    assert.equal(exit, 0);
    assert.match(stderr, /^unchanged s3:\/\/example-lists\/dns\/a b: 2 files$/m);
    assert.deepEqual(store.puts(), []);
  });

  await t.test("an object that another client changed is sent again", async () => {
    assert.equal((await store.request("PUT", `${FOLDER}/home.hosts`)).status, 200);
    assert.match((await project.run(...PUBLISH)).stderr, /2 files, 1 of them sent/);
    const { text } = await store.request("GET", `${FOLDER}/home.hosts`);
    assert.equal(text, project.text("rules/home.hosts"));
  });

  await t.test("another cache_control is sent", async () => {
    const own = [{ s3: { ...s3, cache_control: "max-age=300" } }];
    project.config(own, { outputs: [{ format: "hosts" }] });
    assert.match((await project.run(...PUBLISH)).stderr, /2 files, 2 of them sent/);
    const { headers } = await store.request("HEAD", `${FOLDER}/home.txt`);
    assert.equal(headers.get("cache-control"), "max-age=300");
  });

  await t.test("what is no longer published is deleted, and other objects stay", async () => {
    assert.equal((await store.request("PUT", `${FOLDER}/theirs.txt`)).status, 200);
    project.config([{ s3 }]);
    assert.match((await project.run(...PUBLISH)).stderr, /1 file, 1 of them sent, 1 removed/);
    assert.equal((await store.request("GET", `${FOLDER}/home.hosts`)).status, 404);
    assert.equal((await store.request("GET", `${FOLDER}/theirs.txt`)).status, 200);
    store.asked.length = 0;
    assert.match((await project.run(...PUBLISH)).stderr, /^unchanged s3:/m);
    assert.deepEqual(store.asked, [`HEAD ${FOLDER}/home.txt`]);
  });

  await t.test("a wrong secret is a clear error, and no secret is shown", async () => {
    project.lines("||one.example^", "||three.example^");
    project.env["AWS_SECRET_ACCESS_KEY"] = "planted-secret";
    project.env["AWS_SESSION_TOKEN"] = "planted-token";
    const { exit, stderr, stdout } = await project.run(...PUBLISH, "--json", "-v");
    assert.equal(exit, 13);
    assert.match(stderr, /status 403, SignatureDoesNotMatch/);
    assert.match(stderr, /Check AWS_SECRET_ACCESS_KEY, and region/);
    assert.doesNotMatch(stderr + stdout, /planted/);
    assert.match(project.text("rules/home.txt"), /three/);
    delete project.env["AWS_SESSION_TOKEN"];
  });

  await t.test("a missing key is reported before anything is sent", async () => {
    store.asked.length = 0;
    for (const name of ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"]) {
      delete project.env[name];
      const { exit, stderr } = await project.run(...PUBLISH);
      assert.equal(exit, 13);
      assert.match(stderr, new RegExp(`${name} is not set\n.*hint: Set AWS_ACCESS_KEY_ID and`));
    }
    assert.deepEqual(store.asked, []);
    Object.assign(project.env, KEYS);
  });

  await t.test("the next run repeats a failed target, although nothing changed", async () => {
    const { exit, stderr } = await project.run(...PUBLISH);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /^unchanged rules\/home\.txt/m);
    assert.match(stderr, /^published s3:.*1 of them sent/m);
    assert.match((await store.request("GET", `${FOLDER}/home.txt`)).text, /three/);
  });

  await t.test("a bucket that does not exist is a clear error", async () => {
    project.config([{ s3: { ...s3, bucket: "missing" } }]);
    const { exit, stderr } = await project.run(...PUBLISH);
    assert.equal(exit, 13);
    assert.match(stderr, /status 404, NoSuchBucket: .*\n.*hint: Create the bucket/);
  });

  await t.test("a list of many blocks arrives whole", async () => {
    project.config([{ s3 }]);
    const names = Array.from({ length: 60_000 }, (_, index) => `||name-${index}.example^`);
    project.lines(...names);
    const { exit, stderr } = await project.run(...PUBLISH);
    assert.equal(exit, 0, stderr);
    const { text, headers } = await store.request("GET", `${FOLDER}/home.txt`);
    const own = readFileSync(join(project.folder, "rules/home.txt"));
    assert.ok(own.length > 1_000_000);
    assert.ok(Buffer.from(text).equals(own));
    const digest = createHash("sha256").update(own).digest("hex");
    assert.equal(headers.get("x-amz-meta-sha256"), digest);
  });
});

test("the manifest is sent last, and not if the server stops before", async (t) => {
  const outputs = ["hosts", "domains", "dnsmasq"].map((format) => ({ format }));
  const { store, project } = await placeOf(t, { outputs, manifest: {} });
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  const puts = store.puts();
  // Twice, because Swift knows no conditions.
  assert.deepEqual(puts.slice(-2), [`${FOLDER}/manifest.json`, `${FOLDER}/manifest.json`]);
  assert.equal(puts.indexOf(`${FOLDER}/manifest.json`), puts.length - 2);
  const before = await store.request("GET", `${FOLDER}/manifest.json`);

  project.lines("||one.example^", "||three.example^");
  store.stopBefore = /^PUT .*home\.txt$/;
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(stderr, /error\[target-failed\].*\n.*the store cannot be reached: E[A-Z]+/);
  assert.match(project.text("rules/home.txt"), /three/);
  store.stopBefore = undefined;
  await store.run();
  const after = await store.request("GET", `${FOLDER}/manifest.json`);
  assert.equal(after.text, before.text);

  const again = await project.run(...PUBLISH);
  assert.equal(again.exit, 0, again.stderr);
  const { text } = await store.request("GET", `${FOLDER}/manifest.json`);
  assert.equal(text, project.text("rules/manifest.json"));
  assert.match((await store.request("GET", `${FOLDER}/home.txt`)).text, /three/);
});
