import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type Host, HostError } from "../support/internals.ts";
import {
  COMPILE,
  SPLIT,
  WHOLE,
  WORDS,
  built,
  builtTwice,
  config,
  later,
} from "../support/kept-project.ts";
import type { MemoryProject } from "../support/memory-project.ts";
import { packingHost } from "../support/packing-host.ts";
import { namesInRules, publishedFiles } from "../support/published-files.ts";
import { propertyRuns } from "../support/property.ts";
import { Random } from "../support/random.ts";
import { randomList } from "../support/random-list.ts";
import { listIn } from "../support/documents.ts";

function serialIn(project: MemoryProject): number {
  return Number(/^@ SOA \S+ \S+ (\d+)/m.exec(project.text("rules/home.rpz"))?.[1]);
}

function versionIn(project: MemoryProject): number {
  return (JSON.parse(project.text("rules/manifest.json")) as { version: number }).version;
}

/** A build that the model remembers. */
interface Known {
  readonly files: Record<string, string>;
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("compile" as const),
    seed: fc.nat(1_000_000),
    isSplit: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("rollback" as const), back: fc.nat(7) }),
);

/** The files that a rollback writes: those of a build that today's configuration names, too. The manifest lists them. */
function filesNow({ files }: Known, isSplit: boolean): Known["files"] {
  const left = Object.entries(files).filter(
    ([name]) => !isSplit || !/home\.(?:json|(?:allow\.)?dnscrypt)$/.test(name),
  );
  const isWhole = left.length === Object.keys(files).length;
  return Object.fromEntries(left.filter(([name]) => isWhole || !name.endsWith("manifest.json")));
}

test("after any builds and rollbacks, the files are those of the selected build", async () => {
  let rollbacks = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const project = await built();
      const start = Object.keys(publishedFiles(project, namesInRules(project)));
      const known: Known[] = [{ files: publishedFiles(project, start) }];
      let isSplit = true;
      for (const one of steps) {
        later(project, 1);
        const before = { serial: serialIn(project), version: versionIn(project) };
        const zone = publishedFiles(project, ["rules/home.rpz"]);
        if (one.kind === "compile") {
          const random = new Random(one.seed);
          isSplit = one.isSplit;
          project.write("c.json", config(isSplit ? SPLIT : WHOLE));
          project.write("ads.txt", `${randomList(random)}\n||s${one.seed}.example^\n`);
          project.write("hosts.txt", `0.0.0.0 ads.s${one.seed}.example\n${randomList(random)}`);
          const said = await project.run(...COMPILE);
          if (said.exit !== 0) continue;
          const { files } = listIn(said.stdout) as { files: string[] };
          known.push({ files: publishedFiles(project, files) });
        } else {
          const wanted = known.at(-1 - one.back);
          const said = await project.run("rollback", `@${one.back}`, ...WORDS);
          assert.equal(said.exit, wanted === undefined ? 2 : 0, said.stderr);
          if (wanted === undefined) continue;
          rollbacks++;
          const files = filesNow(wanted, isSplit);
          assert.deepEqual(publishedFiles(project, Object.keys(files)), files);
          known.push({ files });
        }
        const isSameZone =
          zone["rules/home.rpz"] === publishedFiles(project, ["rules/home.rpz"])["rules/home.rpz"];
        const serial = serialIn(project);
        assert.ok(isSameZone ? serial >= before.serial : serial > before.serial, "serial");
        assert.ok(versionIn(project) > before.version, "version of the manifest");
        if (!isSameZone)
          assert.ok(project.text("rules/home.rpz").includes(`Last modified: ${project.now}`));
      }
      const why = await project.run("stats", "--fate", "--json", "--no-cache", ...WORDS);
      assert.equal(why.exit, 0, why.stderr);
    }),
    propertyRuns(30),
  );
  assert.ok(rollbacks > 30, `${rollbacks} rollbacks`);
});

const CALLS = [
  "createFile",
  "rename",
  "link",
  "syncFolder",
  "removeFile",
  "packFile",
  "appendFile",
] as const;

test("a rollback that fails anywhere leaves whole files, and can be repeated", async () => {
  let failures = 0;
  const start = await built();
  const wanted = publishedFiles(start, namesInRules(start));
  for (const call of CALLS)
    for (let at = 1; at <= 60; at++) {
      let count = -Infinity;
      const changes: Partial<Host> = {};
      const project = await builtTwice(changes);
      const before = publishedFiles(project, namesInRules(project));
      const original = packingHost(project.memory)[call] as (...words: unknown[]) => unknown;
      let hasFailed = false;
      const refusing = (...words: unknown[]): unknown => {
        if (++count !== at) return original(...words);
        hasFailed = true;
        const error = new HostError("EIO", "input/output error");
        if (call === "createFile") throw error;
        return Promise.reject(error);
      };
      Object.assign(changes, { [call]: refusing });
      count = 0;
      const { exit, stderr } = await project.run("rollback", ...WORDS);
      if (!hasFailed) break;
      failures++;
      const what = `${call} ${at}: ${stderr}`;
      assert.ok(exit === 0 || exit === 6, what);
      for (const [name, text] of Object.entries(publishedFiles(project, namesInRules(project))))
        if (!name.endsWith("manifest.json"))
          assert.ok(text === before[name] || text === wanted[name], `${what} ${name}`);
      count = -Infinity;
      later(project, 60);
      const again = await project.run("rollback", "@2026-11-10T00:00", ...WORDS);
      assert.equal(again.exit, 0, `${what}\n${again.stderr}`);
      const found = publishedFiles(project, namesInRules(project));
      for (const name of Object.keys(wanted)) assert.equal(found[name], wanted[name], what);
    }
  assert.ok(failures > 40, `${failures} failures`);
});
