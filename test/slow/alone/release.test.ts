import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";

/** A release, made as RELEASING.md says, and started: the executables for both processors, sums, parts lists, formula and flake. */
const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "release-"));
const release = join(folder, "release");

function run(
  program: string,
  words: readonly string[],
  cwd = folder,
): { stdout: string; stderr: string } {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  assert.equal(status, 0, `${program} ${words.join(" ")}: ${error?.message ?? stderr}`);
  return { stdout, stderr };
}

function unpackedExecutable(target: string): string {
  const path = join(folder, `rules-compiler-${target}`);
  writeFileSync(path, gunzipSync(readFileSync(join(release, `rules-compiler-${target}.gz`))));
  chmodSync(path, 0o755);
  return path;
}

before(() => {
  run(
    process.execPath,
    [join(root, "scripts/release.ts"), release, "linux-x64", "linux-arm64"],
    root,
  );
  writeFileSync(
    join(folder, "hosts.txt"),
    "0.0.0.0 ads.example.com\n0.0.0.0 x.ads.example.com\n||tracker.example^\n||com^\n",
  );
  const config = {
    name: "One",
    sources: [{ name: "h", source: "hosts.txt", type: "hosts" }],
    transformations: ["Compress", "Validate"],
  };
  writeFileSync(join(folder, "one.json"), JSON.stringify(config));
});
after(() => rmSync(folder, { recursive: true }));

test("checksums are right, and bills of materials list every dependency", () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: object;
  };
  const lines = readFileSync(join(release, "SHA256SUMS"), "utf8").trim().split("\n");
  assert.ok(lines.length >= 5);
  for (const line of lines) {
    const [digest, file] = line.split("  ") as [string, string];
    assert.equal(
      createHash("sha256")
        .update(readFileSync(join(release, file)))
        .digest("hex"),
      digest,
    );
  }
  run("sha256sum", ["--check", "--quiet", "SHA256SUMS"], release);
  for (const file of ["sbom.cdx.json", "sbom.spdx.json"])
    for (const name of Object.keys(dependencies))
      assert.ok(
        readFileSync(join(release, file), "utf8").includes(`"${name}"`),
        `${file}: ${name}`,
      );
  assert.ok(readdirSync(release).some((file) => file.endsWith(".tgz")));
});

test("the formula and the flake have the digests of the executables", () => {
  const sums = readFileSync(join(release, "SHA256SUMS"), "utf8");
  for (const file of ["rules-compiler.rb", "flake.nix"]) {
    const text = readFileSync(join(release, file), "utf8");
    assert.doesNotMatch(text, /@/);
    for (const target of ["linux-x64", "linux-arm64"]) {
      const [digest] = new RegExp(`^[0-9a-f]{64}(?=  rules-compiler-${target}\\.gz$)`, "m").exec(
        sums,
      )!;
      assert.ok(text.includes(digest));
    }
  }
  run("nix-instantiate", ["--parse", join(release, "flake.nix")]);
});

function expectSameList(program: string, words: readonly string[], name: string): void {
  const compile = ["-c", "one.json", "--no-cache", "-q", "-o"];
  run(program, [...words, ...compile, `${name}.txt`]);
  run(process.execPath, [join(root, "dist/cli/bin.js"), ...compile, "node.txt"]);
  const [one, other] = [`${name}.txt`, "node.txt"].map((file) =>
    readFileSync(join(folder, file), "utf8").replace(/^! Last modified.*$/m, ""),
  );
  assert.equal(one, other);
}

test("the executable for x64 compiles as the package does, and serves by starting itself", async () => {
  const program = unpackedExecutable("linux-x64");
  expectSameList(program, [], "x64");
  const { stdout } = run(program, ["--version"]);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const server = spawn(program, ["serve", "-c", "one.json", "--port", String(port)], {
    cwd: folder,
    stdio: "ignore",
  });
  try {
    let text = "";
    for (let tries = 0; tries < 200 && !text.includes("||"); tries++) {
      text = await fetch(`http://127.0.0.1:${port}/rules/one.txt`).then(
        (answer) => answer.text(),
        () => "",
      );
      await new Promise((turned) => setTimeout(turned, 50));
    }
    assert.match(text, /^\|\|ads\.example\.com\^$/m);
  } finally {
    server.kill("SIGTERM");
  }
});

test("the executable for arm64 does the same, on an emulated processor", () => {
  const libraries = join(folder, "arm64");
  run("mmdebstrap", [
    "--quiet",
    "--variant=extract",
    "--architectures=arm64",
    "--include=base-files,libc6,libgcc-s1,libstdc++6",
    "trixie",
    libraries,
  ]);
  const program = unpackedExecutable("linux-arm64");
  expectSameList("qemu-aarch64-static", ["-L", libraries, program], "arm64");
});

test(
  "JSR accepts the sources",
  { skip: process.env["DENO"] === undefined && "DENO names no binary" },
  () => {
    run(
      process.env["DENO"]!,
      ["publish", "--dry-run", "--allow-dirty", "--no-check", "--config", "jsr.json"],
      root,
    );
  },
);
