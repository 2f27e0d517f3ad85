import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { inParallel, runProgram } from "../support/command.ts";
import { MISBEHAVIOURS, goodUrl, hostileServer, hostileUrl } from "../support/hostile-server.ts";
import { isNightly } from "../support/nightly.ts";

const PLANTED = "Pl4nted-s3cret";
const MODES: readonly (readonly string[])[] = [
  [],
  ["--json"],
  ["--debug", "--strict"],
  ["--update", "--compat"],
];

function* filesBelow(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

test("passwords and tokens in URLs and keys in the environment appear nowhere, whatever fails", async (context) => {
  const root = mkdtempSync(join(tmpdir(), "secrets-"));
  const server = await hostileServer();
  const guarded = server.base.replace("//", `//user:${PLANTED}@`);
  const scenarios = Object.keys(MISBEHAVIOURS)
    .flatMap((what) => MODES.map((mode) => ({ what, mode })))
    .filter((_, index) => isNightly || index % 5 === 0);
  let places = 0;
  try {
    await inParallel(scenarios.entries(), 5, async ([index, { what, mode }]) => {
      const folder = join(root, String(index));
      const config = {
        name: "n",
        sources: [
          {
            source: `${hostileUrl(guarded, what)}?token=${PLANTED}`,
            allow_private: true,
            timeout: "1s",
            required: index % 2 === 1,
          },
          { source: `${goodUrl(guarded, "ok.example")}?token=${PLANTED}`, allow_private: true },
          { source: `http://user:${PLANTED}@[broken/`, allow_private: true, required: false },
        ].slice(0, index % 7 === 0 ? 3 : 2),
      };
      const { mkdirSync } = await import("node:fs");
      mkdirSync(folder);
      const configFile = join(root, `${index}.json`);
      writeFileSync(configFile, JSON.stringify(config));
      const args = ["-c", configFile, "-o", "out/l.txt", "--cache-dir", "cache", ...mode];
      const { stdout, stderr, exit } = await runProgram(args, {
        cwd: folder,
        env: {
          ...process.env,
          DNSAPI_API_KEY: PLANTED,
          DNSAPI_DnsApi__ApiKey: PLANTED,
          HTTPS_PROXY: `http://user:${PLANTED}@127.0.0.1:1`,
        },
      });
      assert.ok(
        [0, 2, 3, 4].includes(Number(exit)),
        `${what} ${mode.join(" ")}: ${exit} ${stderr}`,
      );
      assert.ok(!`${stdout}${stderr}`.includes(PLANTED), `${what}: ${stdout}${stderr}`);
      for (const file of filesBelow(folder)) {
        places++;
        assert.ok(!file.includes(PLANTED) && !readFileSync(file, "latin1").includes(PLANTED), file);
      }
      // The lock stands beside the configuration.
      for (const name of readdirSync(root).filter((one) => one === "rules.lock")) {
        places++;
        assert.ok(!readFileSync(join(root, name), "latin1").includes(PLANTED), name);
      }
    });
    assert.ok(scenarios.length >= (isNightly ? 200 : 40));
    context.diagnostic(`${scenarios.length} scenarios, ${places} files: 0 hits`);
  } finally {
    server.close();
    rmSync(root, { recursive: true, force: true });
  }
});
