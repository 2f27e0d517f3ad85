import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { corpusFolder, corpusConfig, missingCorpus } from "../support/corpus.ts";
import { applyPatch } from "../support/patch-client.ts";
import { isNightly } from "../support/nightly.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const oracle = createRequire(join(import.meta.dirname, "../oracle/package.json"));

function workFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("minisign accepts our signatures, and we accept its keys", (context) => {
  const folder = workFolder(context);
  execFileSync("minisign", ["-G", "-W", "-p", "k.pub", "-s", "k.sec"], { cwd: folder });
  writeFileSync(join(folder, "a.txt"), "||a.example^\n");
  writeFileSync(
    join(folder, "c.json"),
    JSON.stringify({ name: "L", sources: [{ source: "a.txt" }], manifest: { key_file: "k.sec" } }),
  );
  execFileSync(process.execPath, [BIN, "-q", "-c", "c.json", "--no-cache"], { cwd: folder });
  const said = execFileSync("minisign", ["-V", "-p", "k.pub", "-m", "rules/manifest.json"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.match(said, /Signature and comment signature verified/);
  const verify = [BIN, "verify", "rules/manifest.json", "--key", "k.pub"];
  assert.equal(spawnSync(process.execPath, verify, { cwd: folder }).status, 0);
  execFileSync("minisign", ["-S", "-s", "k.sec", "-m", "rules/manifest.json"], { cwd: folder });
  assert.equal(
    spawnSync(process.execPath, verify, { cwd: folder }).status,
    0,
    "what minisign signed is good to us",
  );
  writeFileSync(
    join(folder, "rules/manifest.json"),
    `${readFileSync(join(folder, "rules/manifest.json"), "utf8")} `,
  );
  assert.equal(spawnSync(process.execPath, verify, { cwd: folder }).status, 5);
});

test("a source that minisign signed is read, and a changed one is not", async (context) => {
  const folder = workFolder(context);
  execFileSync("minisign", ["-G", "-W", "-p", "k.pub", "-s", "k.sec"], { cwd: folder });
  const key = readFileSync(join(folder, "k.pub"), "utf8").split("\n")[1]!;
  const sign = (text: string): void => {
    writeFileSync(join(folder, "a.txt"), text);
    execFileSync("minisign", ["-S", "-s", "k.sec", "-m", "a.txt"], { cwd: folder });
  };
  const server = createServer((request, response) => {
    response.end(readFileSync(join(folder, request.url!)));
  });
  await new Promise<void>((bound) => server.listen(0, "127.0.0.1", bound));
  context.after(() => server.close());
  const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.txt`;
  const entry = { source, key, allow_private: true, required: true };
  writeFileSync(join(folder, "c.json"), JSON.stringify({ name: "L", sources: [entry] }));
  const run = async (): Promise<string> =>
    await new Promise((ended) => {
      const words = [BIN, "-q", "-c", "c.json", "--no-cache"];
      execFile(process.execPath, words, { cwd: folder }, (_, __, said) => ended(said));
    });
  sign("||a.example^\n");
  assert.equal(await run(), "");
  assert.match(readFileSync(join(folder, "rules/l.txt"), "utf8"), /\|\|a\.example\^/);
  writeFileSync(join(folder, "a.txt"), "||b.example^\n");
  assert.match(await run(), /source-not-signed/);
});

const PUBLISHES = isNightly ? 50 : 8;

test(
  "AdGuard's client and a client written from the format description apply the differences of every publish",
  { timeout: 900_000, skip: missingCorpus },
  async (context) => {
    const folder = workFolder(context);
    const source = corpusConfig().sources.find(
      ({ source: file }) => statSync(join(corpusFolder("typical"), file)).size > 1_000_000,
    );
    const lines = readFileSync(join(corpusFolder("typical"), source!.source), "utf8")
      .split("\n")
      .slice(0, 15_000);
    writeFileSync(
      join(folder, "c.json"),
      JSON.stringify({
        name: "My list",
        sources: [{ source: "a.txt", type: source!.type }],
        patches: "9999d",
      }),
    );
    const { DiffUpdater } = oracle("@adguard/diff-builder/diff-updater") as {
      DiffUpdater: {
        applyPatch(params: { filterUrl: string; filterContent: string }): Promise<string | null>;
      };
    };
    const server = createServer((request, response) => {
      try {
        response.end(readFileSync(join(folder, "rules", request.url!)));
      } catch {
        response.writeHead(404).end();
      }
    });
    // A publish blocks this process for seconds. A connection that is kept meanwhile would be closed as the client uses it again.
    server.maxRequestsPerSocket = 1;
    await new Promise<void>((bound) => server.listen(0, "127.0.0.1", bound));
    context.after(() => server.close());
    const filterUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/my-list.txt`;
    const clients = { adguard: "", ours: "" };
    let first = "";
    let patchBytes = 0;
    let fullBytes = 0;
    for (let round = 0; round <= PUBLISHES; round++) {
      // Some go, some come, at places all over the list.
      const edition = lines
        .filter((_, index) => index % 200 !== round)
        .concat(Array.from({ length: 20 }, (_, index) => `||r${round}-${index}.example^`));
      writeFileSync(join(folder, "a.txt"), edition.join("\n"));
      const epoch = String(1_793_000_000 + round * 21_600);
      execFileSync(process.execPath, [BIN, "-q", "-c", "c.json", "--no-cache", "--no-record"], {
        cwd: folder,
        env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
      });
      const list = readFileSync(join(folder, "rules/my-list.txt"), "utf8");
      if (round === 0) {
        first = clients.adguard = clients.ours = list;
        continue;
      }
      const name = /^! Diff-Path: (?<path>[^\s#]+)#\S+$/m.exec(clients.ours)!.groups!["path"]!;
      const patch = readFileSync(join(folder, "rules", name), "utf8");
      patchBytes += patch.length;
      fullBytes += list.length;
      clients.ours = applyPatch(clients.ours, patch);
      clients.adguard = (await DiffUpdater.applyPatch({
        filterUrl,
        filterContent: clients.adguard,
      }))!;
      assert.equal(clients.ours, list, `publish ${round}`);
      assert.equal(clients.adguard, list, `publish ${round}, AdGuard's client`);
    }
    const late = await DiffUpdater.applyPatch({ filterUrl, filterContent: first });
    assert.equal(late, clients.adguard, "one that slept through all of them");
    context.diagnostic(
      `${PUBLISHES} differences of ${Math.round(patchBytes / PUBLISHES)} bytes, lists of ${Math.round(fullBytes / PUBLISHES)}: ${((patchBytes / fullBytes) * 100).toFixed(2)} %`,
    );
    assert.ok(patchBytes < fullBytes * 0.05);
  },
);
