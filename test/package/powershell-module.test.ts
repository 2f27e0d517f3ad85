import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";
import { listIn } from "../support/documents.ts";

/** PowerShell itself is not available to tests: what the module reads is compared with what the program prints. */
const folder = join(import.meta.dirname, "../../packaging/powershell");
const manifest = readFileSync(join(folder, "RulesCompiler.psd1"), "utf8");
const source = readFileSync(join(folder, "RulesCompiler.psm1"), "utf8");

function setting(name: string): string {
  return new RegExp(`^ +${name} += (.*)$`, "m").exec(manifest)![1]!;
}

test("the manifest of a checkout can be imported by its path: a valid version, an existing module, no placeholder", () => {
  assert.match(setting("ModuleVersion"), /^'\d+\.\d+\.\d+'$/);
  assert.match(setting("GUID"), /^'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'$/);
  assert.ok(existsSync(join(folder, setting("RootModule").replaceAll("'", ""))));
  assert.doesNotMatch(manifest, /@[A-Z]+@/);
  for (const [open, close] of ["()", "{}"])
    assert.equal(manifest.split(open!).length, manifest.split(close!).length);
  assert.ok(existsSync(join(folder, /'(\.\.\/[^']*bin\.ts)'/.exec(source)![1]!)));
});

test("the module reads what the program prints: one document about lists per command, and problems with severity, code and message", async () => {
  const config = { name: "L", sources: [{ source: "a.txt" }] };
  const host = memoryHost({
    files: { "compiler-config.json": JSON.stringify(config), "a.txt": "||ads.example^\n" },
  });
  const commands = [...source.matchAll(/-Words \(?@\('(\w+)'\)|\$words = @\('(\w+)'\)/g)].map(
    ([, one, other]) => (one ?? other)!,
  );
  assert.deepEqual(commands.toSorted(), ["compile", "plan", "stats", "validate", "why"]);
  // The first one publishes what the others ask about.
  for (const command of commands.toSorted()) {
    const operands = command === "why" ? ["--", "ads.example"] : [];
    const [out, err] = [host.output.stdout.length, host.output.stderr.length];
    const exit = await run(
      [command, "--json", "-c", "compiler-config.json", ...operands],
      packingHost(host),
      new AbortController().signal,
    );
    const problems = host.output.stderr.slice(err);
    assert.equal(exit, 0, problems);
    for (const line of problems.split("\n").filter((text) => text !== "")) {
      const problem = JSON.parse(line) as Record<string, unknown>;
      for (const key of ["severity", "code", "message"])
        assert.equal(typeof problem[key], "string", line);
    }
    const list = listIn(host.output.stdout.slice(out)) as Record<string, unknown>;
    // The example in the help of each function.
    const example = new RegExp(`\\(Invoke-RulesCompiler [^)]*\\)\\.(\\w+)`).exec(source)![1]!;
    if (command === "compile") assert.equal(list[example], 1);
  }
});
