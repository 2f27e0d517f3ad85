import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "../..");
const COMMIT = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/;
const DIGEST = /@sha256:[0-9a-f]{64}$/;
/** In examples, where the reader chooses the release. */
const OWN_ACTION = /^rules-compiler\/rules-compiler@/;

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));
}

const WORKFLOWS = filesIn(".github/workflows", /\.ya?ml$/);
const WITH_ACTIONS = [
  ...WORKFLOWS,
  "action.yml",
  ...filesIn("deploy", /\.ya?ml$/),
  "README.md",
  ...filesIn("docs", /\.md$/),
];

test("every action is pinned by commit with its release in a comment", () => {
  let uses = 0;
  for (const file of WITH_ACTIONS)
    for (const [line, action = ""] of read(file).matchAll(/^\s*-?\s*uses:\s*(\S+).*$/gm)) {
      if (OWN_ACTION.test(action) && !WORKFLOWS.includes(file)) continue;
      uses++;
      assert.match(action, COMMIT, `${file}: ${line}`);
      assert.match(line, /# v\d+\.\d+\.\d+$/, `${file}: ${line}`);
    }
  assert.ok(uses >= 15, String(uses));
});

test("every base image is pinned by digest", () => {
  const folders = ["deploy", "packaging", "test/support/container"];
  const further = folders.flatMap((folder) =>
    filesIn(folder, /(?:^|[/\\])(?:Docker|Container)file/),
  );
  for (const file of ["Dockerfile", ...further]) {
    const text = read(file);
    const values = new Map(
      [...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name = "", value = ""]) => [name, value]),
    );
    const stages = new Set([...text.matchAll(/ AS (\S+)$/gim)].map(([, name]) => name));
    const images = [...text.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, image = ""]) =>
      image.replace(/\$\{(\w+)\}/g, (_, name: string) => values.get(name) ?? ""),
    );
    for (const image of images) if (!stages.has(image)) assert.match(image, DIGEST, file);
    for (const [, syntax = ""] of text.matchAll(/^# syntax=(\S+)$/gm))
      assert.match(syntax, DIGEST, file);
    assert.ok(images.length > 0, file);
  }
});

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions?: Readonly<Record<string, string>>;
        readonly steps: readonly {
          readonly run?: string;
          readonly with?: Readonly<Record<string, unknown>>;
        }[];
      }
    >
  >;
}

test("jobs with an identity token use only pinned tools", () => {
  let jobs = 0;
  for (const file of WORKFLOWS) {
    const { jobs: all } = parse(read(file)) as Workflow;
    for (const [name, { permissions, steps }] of Object.entries(all)) {
      if (permissions?.["id-token"] !== "write") continue;
      jobs++;
      for (const { run = "", with: inputs = {} } of steps) {
        const at = `${file}: ${name}: ${run}`;
        assert.doesNotMatch(
          run,
          /\b(?:npx|bunx|pnpm dlx|npm (?:i|install)|pip install|curl|wget)\b/,
          at,
        );
        for (const [input, version] of Object.entries(inputs))
          if (input.endsWith("-version")) assert.match(String(version), /^\d+\.\d+\.\d+$/, at);
      }
    }
  }
  assert.ok(jobs >= 4, String(jobs));
});

test("the image has every file that the build reads", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: { build: string } };
  const needed = scripts.build.match(/[\w./-]+\.(?:ts|json)\b/g) ?? [];
  assert.ok(needed.length >= 2, scripts.build);
  for (const file of needed) {
    assert.ok(read("Dockerfile").includes(file), `Dockerfile: ${file}`);
    assert.ok(read(".dockerignore").includes(`!${file}\n`), `.dockerignore: ${file}`);
  }
});
