import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Random } from "../support/random.ts";
import { type CompiledFor, compileFor } from "../support/resolvers/compiled-for.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import { startServer } from "../support/resolvers/zone-servers.ts";

const PATIENCE_MS = 20_000;

/** BIND with these files as policy zones, in this order: the first that has something to say of a name decides. */
async function bindWith(
  context: TestContext,
  folder: string,
  files: readonly string[],
  upstream: number,
): Promise<number> {
  const port = await freeTcpPort();
  const names = files.map((_, index) => `rpz${index + 1}`);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "named.conf");
  writeFileSync(
    path,
    `options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; }; dnssec-validation no; max-cache-size 8m;
 response-policy { ${names.map((name) => `zone "${name}";`).join(" ")} } break-dnssec yes qname-wait-recurse no; };
${files.map((file, index) => `zone "${names[index]}" { type primary; file "${file}"; };`).join("\n")}
`,
  );
  const server = startServer(["named", "-g", "-c", path]);
  context.after(() => server.child.kill("SIGKILL"));
  const began = Date.now();
  while (!/\brunning\n/.test(server.log())) {
    assert.ok(Date.now() - began < PATIENCE_MS, server.log());
    await new Promise((later) => setTimeout(later, 50));
  }
  return port;
}

function compiledInParts(
  rules: readonly string[],
  folder: string,
  most: number,
): CompiledFor | undefined {
  try {
    return compileFor("rpz", rules, folder, { split: { max_rules: most } });
  } catch (error) {
    assert.match((error as { stderr: string }).stderr, /limit-too-small/);
    return undefined;
  }
}

test("BIND with all parts of a split zone answers as the list does", async (context) => {
  const root = mkdtempSync(join(tmpdir(), "policy-zones-"));
  context.after(() => rmSync(root, { recursive: true }));
  const upstream = await startUpstream();
  context.after(() => upstream.close());
  const random = new Random(27);
  let asked = 0;
  for (const most of [5, 6, 8, 10, 40]) {
    const domains = Array.from({ length: 25 }, (_, index) => `d${index}.example`);
    const nameIn = (domain: string): string =>
      [...Array.from({ length: random.below(4) }, () => random.pick(["a", "b"])), domain].join(".");
    const rules = domains.flatMap((domain) =>
      Array.from({ length: 1 + random.below(5) }, () => {
        const pattern = random.pick(["||%^", "||%^", "|%^", "||*.%^"]).replace("%", nameIn(domain));
        return `${random.pick(["", "", "@@"])}${pattern}${random.pick(["", "$important"])}`;
      }),
    );
    const folder = join(root, String(most));
    mkdirSync(folder);
    const compiled = compiledInParts(rules, folder, most);
    // Parts that cannot hold what belongs together may be refused; these here mostly can.
    if (compiled === undefined) continue;
    const { text, artifact, list } = compiled;
    assert.ok(artifact.parts > 1);
    const files = artifact.files.map((file) => join(dirname(list), basename(file)));
    const port = await bindWith(context, join(folder, "bind"), files, upstream.port);
    const names = [
      ...new Set(domains.flatMap((domain) => Array.from({ length: 12 }, () => nameIn(domain)))),
    ];
    const meant = new NaiveNames(text);
    const said = await askAll(port, names);
    asked += names.length;
    assert.deepEqual(
      names.filter((name, index) => (said[index] === "blocked") !== meant.isBlocked(name)),
      [],
      `at most ${most} in a part`,
    );
  }
  assert.ok(asked > 400, String(asked));
  context.diagnostic(`BIND, zones in parts: ${asked} names asked, 0 wrong`);
});
