import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readArgs } from "../../src/cli/flags/args.ts";
import { serveOptionsOf } from "../../src/cli/flags/serve-options.ts";
import { type SpecifiedSection, ended } from "../support/specified.ts";

const root = join(import.meta.dirname, "../..");
const CONFIG = JSON.stringify({
  name: "L",
  sources: [{ name: "Ads", source: "/lists/a.txt", type: "adblock" }],
});
const FILES = { "c.json": CONFIG, "/elsewhere/c.json": CONFIG, "/lists/a.txt": "||ads.example^\n" };
const LIST = "/project/rules/l.txt";
const SAME = "the one program takes it";

async function done(words: string): ReturnType<typeof ended> {
  const end = await ended(words, { files: FILES });
  assert.equal(end.exit, 0, end.stderr);
  return end;
}

function text(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

export const commandLine: SpecifiedSection = {
  title: "Command line",
  items: [
    {
      item: "-c <config_path>",
      meaning: "The configuration; absolute, or relative to the working directory.",
      check: async () => {
        assert.ok((await done("-c c.json")).host.files.has(LIST));
        assert.ok((await done("-c /elsewhere/c.json")).host.files.has(LIST));
      },
    },
    {
      item: "--validate",
      meaning: "Checks the configuration and writes nothing.",
      door: ".NET",
      met: SAME,
      check: async () => assert.ok(!(await done("-c c.json --validate")).host.files.has(LIST)),
    },
    {
      item: "--verbose",
      meaning: "Shows what is done.",
      door: ".NET",
      met: SAME,
      check: async () => assert.match((await done("-c c.json --verbose")).stderr, /^debug: /m),
    },
    {
      item: "-d",
      meaning: "Shows what is done.",
      check: async () => assert.match((await done("-c c.json -d")).stderr, /^debug: /m),
    },
    {
      item: "-r",
      meaning: "With `-o`, also writes the list into the rules directory.",
      check: async () => {
        const { host } = await done("-c c.json -o other.txt -r");
        assert.ok(host.files.has(LIST) && host.files.has("/project/other.txt"));
      },
    },
    {
      item: "-- before the arguments",
      meaning: "Task runners pass it on; it is not an argument.",
      check: async () => assert.ok((await done("-- -c c.json")).host.files.has(LIST)),
    },
    {
      item: "task compile",
      meaning:
        "Runs the compiler with permissions to read, write, use the network and start programs.",
      door: "TypeScript runtime",
      met: "`deno task compile` in a checkout",
      check: () => {
        const { tasks } = JSON.parse(text("deno.json")) as { tasks: Record<string, string> };
        for (const permission of ["read", "write", "net", "run"])
          assert.ok(tasks["compile"]!.includes(`--allow-${permission}`), permission);
      },
    },
    {
      item: "rules-compiler",
      meaning: "The name of the console command.",
      door: "Python",
      met: "the npm package installs a command of that name",
      check: () => {
        const { bin } = JSON.parse(text("package.json")) as { bin: Record<string, string> };
        assert.deepEqual(Object.keys(bin), ["rules-compiler"]);
      },
    },
    {
      item: "rules-compiler",
      meaning: "The name of the release binary.",
      door: "Rust",
      met: "single executables `rules-compiler-<system>` of each release",
      check: () => assert.match(text("scripts/executables.ts"), /`rules-compiler-\$\{target\}/),
    },
    {
      item: "console project",
      meaning: "Run with arguments.",
      door: ".NET",
      met: "the same arguments to `rules-compiler`; there is no .NET project",
    },
    {
      item: "module manifest, imported by path",
      meaning: "No commands of it were named.",
      door: "PowerShell",
      met: "`rules-compiler` is called from PowerShell like any program; there is no module",
    },
    {
      item: "0 */6 * * *",
      meaning: "The schedule of unattended runs.",
      met: "`serve` compiles at these times by default",
      check: () => {
        const { schedule } = serveOptionsOf(readArgs(["serve"]), {});
        assert.equal(schedule.pattern, "0 */6 * * *");
      },
    },
    {
      item: "container image",
      meaning: "The program is packaged as one.",
      check: () => assert.match(text("Dockerfile"), /^ENTRYPOINT .*cli\/bin\.js/m),
    },
  ],
};
