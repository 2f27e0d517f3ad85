import assert from "node:assert/strict";
import { ApiKey, fetchAccountLimits } from "../../src/dns-api/account-limits.ts";
import { HostError } from "../../src/host/host.ts";
import { CompilerError, compile, memoryHost } from "../support/internals.ts";
import { type Specified, type SpecifiedSection, ended } from "../support/specified.ts";

/** A text that a configuration, or the lack of one, leads to. */
function told(item: string, meaning: string, files: Readonly<Record<string, string>>): Specified {
  return {
    item,
    meaning,
    check: async () => {
      const [file = "missing.json"] = Object.keys(files);
      const { exit, stderr } = await ended(`-c ${file}`, { files });
      assert.equal(exit, 2, stderr);
      assert.ok(stderr.includes(item.replace("<name>", "Nope")), stderr);
    },
  };
}

async function failure(code: string): Promise<string> {
  const host = {
    ...memoryHost(),
    fetch: () => Promise.reject(new HostError(code, "it failed")),
  };
  const config = { name: "L", sources: [{ source: "https://lists.example/l.txt" }] };
  return await compile(config, { host }).then(
    () => "",
    (error: unknown) => (error instanceof CompilerError ? error.message : ""),
  );
}

export const errors: SpecifiedSection = {
  title: "Error",
  items: [
    told("Configuration file not found", "There is no file at the path.", {}),
    told("Invalid configuration", "A field holds what it must not.", {
      "c.json": '{"name": 5, "sources": []}',
    }),
    told("Failed to parse configuration", "A file is malformed for its format.", {
      "c.yaml": "name: [L\n",
    }),
    told("Invalid JSON", "A JSON file is malformed.", { "c.json": "{name}" }),
    told("name is required", "`name` is absent.", { "c.json": '{"sources": [{"source": "a"}]}' }),
    told("sources is required", "`sources` is absent.", { "c.json": '{"name": "L"}' }),
    told("Unknown transformation: <name>", "No transformation is called so; case matters.", {
      "c.json": '{"name": "L", "sources": [{"source": "a"}], "transformations": ["Nope"]}',
    }),
    {
      item: "Failed to fetch",
      meaning: "A source could not be downloaded.",
      check: async () => assert.match(await failure("ECONNREFUSED"), /Failed to fetch/),
    },
    {
      item: "Connection timeout",
      meaning: "A source took too long.",
      check: async () => assert.match(await failure("ETIMEDOUT"), /Connection timeout/),
    },
    {
      item: "Failed to connect",
      meaning: "The DNS API is unreachable, or refuses the key.",
      check: async () => {
        const key = new ApiKey("k-1", "test");
        const api = fetchAccountLimits({ url: "https://api.example", key }, memoryHost());
        await assert.rejects(api, /Failed to connect/);
      },
    },
    {
      item: "Python 3.9 or higher is required",
      meaning: "The Python runtime is too old.",
      door: "Python",
      met: "the command that the wheel installs prints it",
    },
  ],
};
