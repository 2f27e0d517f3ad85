import assert from "node:assert/strict";
import { loadApiKey } from "../../src/dns-api/account-limits.ts";
import { proxyFor } from "../../src/host/network.ts";
import { memoryHost } from "../support/internals.ts";
import { type Specified, type SpecifiedSection, ended } from "../support/specified.ts";

const CONFIG = JSON.stringify({
  name: "L",
  sources: [{ name: "Ads", source: "/lists/a.txt", type: "adblock" }],
});
const FILES = {
  "compiler-config.json": CONFIG,
  "other/c.json": CONFIG.replace('"L"', '"Other"'),
  "/lists/a.txt": "||ads.example^\n",
};
const LEVEL = "RULESCOMPILER_Logging__LogLevel__Default";

async function withEnv(env: Record<string, string>): ReturnType<typeof ended> {
  const end = await ended("", { files: FILES, env });
  assert.equal(end.exit, 0, end.stderr);
  return end;
}

function key(item: string, meaning: string, env: Record<string, string>): Specified {
  return {
    item,
    meaning,
    door: item === "DNSAPI_API_KEY" ? "TypeScript client" : ".NET and Rust clients",
    met: "`limits` reads it",
    check: async () => {
      const host = memoryHost({ files: { "/run/secrets/key": "k-1\n" }, env });
      assert.equal((await loadApiKey(host)).authorization, "ApiKey k-1");
    },
  };
}

function proxy(item: string, scheme: string): Specified {
  return {
    item,
    meaning: `Proxy for ${scheme} addresses.`,
    check: () => {
      const found = proxyFor(new URL(`${scheme}://lists.example/`), {
        [item]: "http://proxy.example:3128",
      });
      assert.match(JSON.stringify(found), /proxy\.example/);
    },
  };
}

export const environment: SpecifiedSection = {
  title: "Environment variable",
  items: [
    {
      item: "CONFIG_PATH",
      meaning: "Path of the configuration. Default: `compiler-config.json`.",
      check: async () => {
        assert.ok((await withEnv({})).host.files.has("/project/rules/l.txt"));
        const { host } = await withEnv({ CONFIG_PATH: "other/c.json" });
        assert.ok(host.files.has("/project/rules/other.txt"));
      },
    },
    {
      item: "DEBUG",
      meaning: "`true` shows what is done. Default: `false`.",
      check: async () => {
        assert.match((await withEnv({ DEBUG: "true" })).stderr, /^debug: /m);
        for (const env of [{}, { DEBUG: "false" }])
          assert.doesNotMatch((await withEnv(env)).stderr, /^debug: /m);
      },
    },
    {
      item: "RULES_DIR",
      meaning: "Folder of the compiled lists. Default: `./rules`.",
      check: async () => {
        assert.ok((await withEnv({})).host.files.has("/project/rules/l.txt"));
        assert.ok((await withEnv({ RULES_DIR: "out" })).host.files.has("/project/out/l.txt"));
      },
    },
    {
      item: LEVEL,
      meaning: "Log level. Default: `Information`; `Debug` shows what is done.",
      door: ".NET",
      met: "the one program reads it",
      check: async () => {
        assert.match((await withEnv({ [LEVEL]: "Debug" })).stderr, /^debug: /m);
        const { stderr } = await withEnv({ [LEVEL]: "Information" });
        assert.doesNotMatch(stderr, /^debug: /m);
        assert.match(stderr, /written/);
      },
    },
    key("DNSAPI_DnsApi__ApiKey", "Key of the DNS API.", { DNSAPI_DnsApi__ApiKey: "k-1" }),
    key("DNSAPI_API_KEY", "Key of the DNS API.", { DNSAPI_API_KEY: "k-1" }),
    key("DNSAPI_DnsApi__ApiKey_FILE", "Path of a file with the key.", {
      DNSAPI_DnsApi__ApiKey_FILE: "/run/secrets/key",
    }),
    proxy("HTTP_PROXY", "http"),
    proxy("HTTPS_PROXY", "https"),
  ],
};
