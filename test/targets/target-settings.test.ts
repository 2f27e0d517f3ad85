import assert from "node:assert/strict";
import { test } from "node:test";
import { TargetProject } from "../support/targets/target-project.ts";

const GIT = { remote: "lists.git", branch: "lists" };
const S3 = { endpoint: "https://store.example", bucket: "lists" };

const BAD: readonly (readonly [object, RegExp])[] = [
  [{}, /must have exactly one of git and s3/],
  [{ git: GIT, s3: S3 }, /must have exactly one of git and s3/],
  [{ git: GIT, timeout: "2h" }, /timeout must be longer than 0 and at most 1h/],
  ...[
    "ext::sh -c touch% pwned",
    "--upload-pack=touch pwned",
    "https://me:password@forge.example/lists.git",
    "https://token@forge.example/lists.git",
    "ssh://git:password@forge.example/lists.git",
    "http://forge.example/lists.git",
    "git://forge.example/lists.git",
    "file:///lists.git",
    "lists\n.git",
    "https://forge.example/lists.git?private_token=planted",
    "http://127.0.0.1:3000/lists.git#planted",
    "ssh://git@forge.example/lists.git?planted",
  ].map((remote) => [{ git: { ...GIT, remote } }, /git\.remote must be an https or ssh/] as const),
  ...["-f", "a..b", "a/", "a.lock", "a b", "refs/*", "+main", ":main", "@{-1}"].map(
    (branch) => [{ git: { ...GIT, branch } }, /git\.branch is not the name of a branch/] as const,
  ),
  ...["store.example", "http://store.example", "https://a:b@store.example", "https://a/b"].map(
    (endpoint) => [{ s3: { ...S3, endpoint } }, /s3\.endpoint must be an https address/] as const,
  ),
  [{ s3: { ...S3, bucket: "a/b" } }, /s3\.bucket is not the name of a bucket/],
  [{ s3: { ...S3, region: "a\nb" } }, /s3\.region is not the name of a region/],
  ...["/a", "a//b", "../a", "a/..", "a\u0000", "\ud800x"].map(
    (prefix) => [{ s3: { ...S3, prefix } }, /s3\.prefix must be a folder/] as const,
  ),
  [{ s3: { ...S3, cache_control: "a\r\nx: y" } }, /s3\.cache_control must be the value/],
  ...["https://192.0.2.1", "https://[2001:db8::1]:9000"].map(
    (endpoint) =>
      [{ s3: { ...S3, endpoint, path_style: false } }, /path_style: false needs a name/] as const,
  ),
];

test("targets that would start programs, show passwords or leave their place are invalid", async (t) => {
  const project = new TargetProject(t, []);
  for (const [target, problem] of BAD) {
    project.config([target]);
    const { exit, stderr } = await project.run("validate", "-c", "c.json");
    assert.equal(exit, 2, JSON.stringify(target));
    assert.match(stderr, problem, JSON.stringify(target));
  }
  project.config([{ git: GIT }, { git: GIT, timeout: "5m" }]);
  const { exit, stderr } = await project.run("validate", "-c", "c.json");
  assert.equal(exit, 2);
  assert.match(stderr, /publish\[1\] is the same place as another target/);
});

test("addresses and folders of common forges and stores are valid", async (t) => {
  const project = new TargetProject(t, []);
  const remotes = [
    "git@github.com:example/lists.git",
    "ssh://git@forge.example:2222/lists.git",
    "https://forge.example/lists.git",
    "http://127.0.0.1:3000/lists.git",
    "../lists.git",
    "/srv/git/lists.git",
  ];
  const git = remotes.map((remote) => ({ git: { remote, branch: "gh-pages/lists-1.0" } }));
  const s3 = { ...S3, prefix: "dns/", region: "auto", cache_control: "public, max-age=300" };
  project.config([...git, { s3 }, { s3: { ...S3, endpoint: "http://10.0.0.2:9000" } }]);
  const { exit, stderr } = await project.run("validate", "-c", "c.json");
  assert.equal(exit, 0, stderr);
});
