import assert from "node:assert/strict";
import { type SpecifiedSection, ended } from "../support/specified.ts";
import { HOUR, servedForADay } from "./served-for-a-day.ts";

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
      met: "`deno task compile` in a clone",
    },
    {
      item: "rules-compiler",
      meaning: "The name of the console command.",
      door: "Python",
      met: "the wheel installs a command of that name; so do the npm package, `.deb` and `.rpm`",
    },
    {
      item: "rules-compiler",
      meaning: "The name of the release binary.",
      door: "Rust",
      met: "the binary of the crate, and the executables of each release",
    },
    {
      item: "console project",
      meaning: "Run with arguments.",
      door: ".NET",
      met: "a .NET tool with the same arguments; there is no project to run",
    },
    {
      item: "module manifest, imported by path",
      meaning: "No commands of it were named.",
      door: "PowerShell",
      met: "`packaging/powershell/RulesCompiler.psd1`, with five commands",
    },
    {
      item: "0 */6 * * *",
      meaning: "The schedule of unattended runs.",
      met: "`serve` compiles at these times by default, plus up to five minutes at random",
      check: async () => {
        const { runs } = await servedForADay();
        // The first one is at the start.
        const times = runs.slice(1).map((run) => run % (6 * HOUR));
        assert.equal(times.length, 4);
        for (const late of times) assert.ok(late <= 6 * 60_000, String(late));
      },
    },
    {
      item: "container image",
      meaning: "The program is packaged as one.",
      door: "container image",
      met: "`Dockerfile`, `compose.yaml`",
    },
  ],
};
