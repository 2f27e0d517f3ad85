import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { asNewcomer } from "../support/newcomer.ts";

/** A release, made as RELEASING.md says, and every package that can be installed here installed: executables, wheel, deb and rpm. */
const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "release-"));
const release = join(folder, "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
};

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

function released(pattern: RegExp): string {
  const found = readdirSync(release).filter((file) => pattern.test(file));
  assert.equal(found.length, 1, `${pattern}: ${found.join(", ")}`);
  return join(release, found[0]!);
}

before(() => {
  run(
    process.execPath,
    [join(root, "scripts/release.ts"), "--dry-run", release, "linux-x64"],
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

function expectSameList(program: string, words: readonly string[], name: string): void {
  const compile = ["-c", "one.json", "--no-cache", "-q", "-o"];
  run(program, [...words, ...compile, `${name}.txt`]);
  run(process.execPath, [join(root, "dist/cli/bin.js"), ...compile, "node.txt"]);
  const [one, other] = [`${name}.txt`, "node.txt"].map((file) =>
    readFileSync(join(folder, file), "utf8").replace(/^! Last modified.*$/m, ""),
  );
  assert.equal(one, other);
}

test("the executable for x64 compiles as the package does, and serves by starting itself", async (context) => {
  const program = join(folder, "rules-compiler");
  await asNewcomer(context, () => {
    run("tar", ["-xzf", released(/^rules-compiler-linux-x64\.tar\.gz$/)]);
    expectSameList(program, [], "x64");
  });
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
  run(process.execPath, [join(root, "scripts/executables.ts"), folder, "linux-arm64"], root);
  const program = join(folder, "rules-compiler-linux-arm64");
  expectSameList("qemu-aarch64-static", ["-L", libraries, program], "arm64");
});

test("pip installs the wheel into a clean environment, and Python starts the program", async (context) => {
  const environment = join(folder, "environment");
  await asNewcomer(context, () => {
    run("/usr/bin/python3", ["-m", "venv", environment]);
    run(join(environment, "bin/pip"), [
      "install",
      "--no-index",
      "--disable-pip-version-check",
      released(/\.whl$/),
    ]);
    expectSameList(join(environment, "bin/rules-compiler"), [], "wheel");
  });
  const python = join(environment, "bin/python");
  expectSameList(python, ["-m", "rules_compiler"], "module");
  run(join(environment, "bin/pip"), ["check"]);
  const old =
    "import sys, runpy; sys.version_info = (3, 8); runpy.run_module('rules_compiler', run_name='__main__')";
  const { status, stderr } = spawnSync(python, ["-c", old], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, "Python 3.9 or higher is required\n"]);
});

test("dpkg installs the package, with manual page, units and completions", async (context) => {
  const machine = join(folder, "debian");
  mkdirSync(join(machine, "var/lib/dpkg/updates"), { recursive: true });
  mkdirSync(join(machine, "var/lib/dpkg/info"));
  for (const file of ["status", "available"])
    writeFileSync(join(machine, "var/lib/dpkg", file), "");
  // An empty machine has no libc6 in its database; the program uses the one of this machine.
  await asNewcomer(context, () => {
    run("dpkg", [`--root=${machine}`, "--force-depends", "--install", released(/\.deb$/)]);
    expectSameList(join(machine, "usr/bin/rules-compiler"), [], "deb");
  });
  const listed = run("dpkg", [`--root=${machine}`, "--listfiles", "rules-compiler"]).stdout;
  for (const path of [
    "/usr/bin/rules-compiler",
    "/usr/share/man/man1/rules-compiler.1.gz",
    "/usr/lib/systemd/system/rules-compiler.timer",
    "/usr/share/bash-completion/completions/rules-compiler",
  ])
    assert.ok(listed.split("\n").includes(path), path);
});

test("rpm installs the package", async (context) => {
  const machine = join(folder, "fedora");
  mkdirSync(machine);
  await asNewcomer(context, () => {
    run("rpm", ["--root", machine, "--install", "--nodeps", released(/\.rpm$/)]);
    expectSameList(join(machine, "usr/bin/rules-compiler"), [], "rpm");
  });
  run("rpm", ["--root", machine, "--verify", "--nodeps", "rules-compiler"]);
});

test("the tool for .NET names a package for each platform, which starts its executable", () => {
  const read = (file: string, name: string): string => run("unzip", ["-p", file, name]).stdout;
  const chooser = released(/^rules-compiler\.\d.*\.nupkg$/);
  assert.match(
    read(chooser, "tools/net10.0/any/DotnetToolSettings.xml"),
    /RuntimeIdentifier="linux-x64" Id="rules-compiler\.linux-x64"/,
  );
  const own = released(/^rules-compiler\.linux-x64\..*\.nupkg$/);
  assert.match(
    read(own, "tools/net10.0/linux-x64/DotnetToolSettings.xml"),
    /EntryPoint="rules-compiler" Runner="executable"/,
  );
  run("unzip", ["-q", own, "tools/*", "-d", join(folder, "nuget")]);
  expectSameList(join(folder, "nuget/tools/net10.0/linux-x64/rules-compiler"), [], "nuget");
});

test("the module for PowerShell has the version, and exports what it defines", () => {
  run("unzip", ["-q", released(/PowerShell.*\.zip$/), "-d", join(folder, "powershell")]);
  const manifest = readFileSync(join(folder, "powershell/RulesCompiler.psd1"), "utf8");
  const module = readFileSync(join(folder, "powershell/RulesCompiler.psm1"), "utf8");
  assert.ok(manifest.includes(`ModuleVersion        = '${version}'`));
  const [exported] = /FunctionsToExport.*/.exec(manifest)!;
  const names = [...exported.matchAll(/'([\w-]+)'/g)].map(([, name]) => name!);
  const [declared] = /Export-ModuleMember.*/.exec(module)!;
  assert.equal(declared, `Export-ModuleMember -Function ${names.join(", ")}`);
  for (const name of names) assert.match(module, new RegExp(`^function ${name} \\{`, "m"));
});

test(
  "JSR accepts the sources",
  { skip: process.env["DENO"] === undefined && "DENO names no binary" },
  () => {
    run(
      process.env["DENO"]!,
      ["publish", "--dry-run", "--allow-dirty", "--no-check", "--config", "deno.json"],
      root,
    );
  },
);

test(
  "the steps of RELEASING.md, in a clone",
  { skip: process.env["DENO"] === undefined && "DENO names no binary" },
  () => {
    const [origin, clone] = [join(folder, "origin.git"), join(folder, "clone")];
    run("git", ["clone", "--quiet", "--bare", root, origin]);
    run("git", ["clone", "--quiet", origin, clone]);
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    mkdirSync(join(folder, "bin"));
    symlinkSync(process.env["DENO"]!, join(folder, "bin/deno"));
    const page = readFileSync(join(clone, "RELEASING.md"), "utf8");
    const steps = page.slice(page.indexOf("## Steps"));
    const blocks = [...steps.matchAll(/^ *```sh\n([^]*?)^ *```/gm)].map(([, block]) => block!);
    assert.equal(blocks.length, 3);
    const script = blocks
      .join("")
      // What is measured may be older than this commit, and the tree has a symbolic link.
      .replace("scripts/release.ts release", "scripts/release.ts --dry-run release linux-x64")
      .replace("deno publish --dry-run", "deno publish --dry-run --allow-dirty --no-check");
    const { status, stdout, stderr } = spawnSync("sh", ["-exc", script], {
      cwd: clone,
      encoding: "utf8",
      env: {
        ...process.env,
        PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
        GIT_AUTHOR_NAME: "n",
        GIT_AUTHOR_EMAIL: "e",
        GIT_COMMITTER_NAME: "n",
        GIT_COMMITTER_EMAIL: "e",
      },
    });
    assert.equal(status, 0, stdout + stderr);
    assert.equal(run("git", ["tag", "--list", "v*"], origin).stdout, "v0.1.0\n");
  },
);
