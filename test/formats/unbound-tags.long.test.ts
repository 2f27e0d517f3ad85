import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { relatedNames, relatedRules } from "../support/random-lists.ts";
import { askFrom } from "../support/resolvers/ask-from.ts";
import { startUpstream } from "../support/resolvers/dns-client.ts";
import { TaggedNames } from "../support/resolvers/tagged-names.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import { startServer } from "../support/resolvers/zone-servers.ts";

const LISTS = ["one", "two", "three", "four"];
const NAMES = isNightly ? 400_000 : 60_000;
const PATIENCE_MS = 60_000;

/** Compiles four lists; the file with tags, and the largest list alone. */
async function compiled(
  context: TestContext,
  rules: (list: number) => readonly string[],
): Promise<{ readonly folder: string; readonly tags: string; readonly alone: string }> {
  const project = new DiskProject(context);
  for (const [index, name] of LISTS.entries())
    project.write(`${name}.txt`, `${rules(index).join("\n")}\n`);
  const config = {
    name: "All",
    sources: LISTS.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    outputs: [{ format: "unbound", file: "{slug}.conf" }],
    lists: LISTS.map((name) => ({ name, sources: [name] })),
    combined: [{ format: "unbound-tags", file: "tags.conf" }],
  };
  project.write("c.json", JSON.stringify(config));
  const { exit, stderr } = await project.run("-c", "c.json", "--no-cache", "--no-record");
  assert.equal(exit, 0, stderr);
  const file = (name: string): string => join(project.folder, "rules", name);
  return { folder: project.folder, tags: file("tags.conf"), alone: file("four.conf") };
}

/** The address of a client, and its lists. Every combination has a client. */
function clientOf(bits: number): { readonly address: string; readonly tags: readonly string[] } {
  return {
    address: `127.0.1.${bits + 1}`,
    tags: LISTS.filter((_, list) => (bits & (1 << list)) !== 0),
  };
}

interface Unbound {
  readonly port: number;
  /** Resident memory in kB. */
  memory(): number;
  stop(): void;
}

async function startUnbound(
  context: TestContext,
  folder: string,
  list: string,
  upstream: number,
): Promise<Unbound> {
  const port = await freeTcpPort();
  const clients = Array.from({ length: 16 }, (_, bits) => clientOf(bits))
    .filter(({ tags }) => tags.length > 0 && list.endsWith("tags.conf"))
    .map(({ address, tags }) => `  access-control-tag: ${address}/32 "${tags.join(" ")}"\n`);
  const path = join(folder, `unbound-${port}.conf`);
  writeFileSync(
    path,
    `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  module-config: "iterator"
  interface: 127.0.0.1
  port: ${port}
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  msg-cache-size: 1m
  rrset-cache-size: 1m
  include: "${list}"
${clients.join("")}forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstream}
`,
  );
  const server = startServer(["unbound", "-d", "-c", path]);
  context.after(() => server.child.kill("SIGKILL"));
  const began = Date.now();
  while (!server.log().includes("start of service")) {
    assert.ok(Date.now() - began < PATIENCE_MS && server.child.exitCode === null, server.log());
    await sleep(50);
  }
  return {
    port,
    memory: () => {
      const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(?<kb>\d+)/.exec(status)?.groups?.["kb"]);
    },
    stop: () => void server.child.kill("SIGKILL"),
  };
}

test("unbound answers 16 combinations of lists from one file with tags", async (context) => {
  const upstream = await startUpstream();
  context.after(() => upstream.close());
  const random = new Random(33);
  const { folder, tags } = await compiled(context, () => relatedRules(random, 40, true));
  const unbound = await startUnbound(context, folder, tags, upstream.port);
  // The fast suite compares this model with the lists.
  const model = new TaggedNames(readFileSync(tags, "utf8"));
  const names = relatedNames(random, 120);
  let blocked = 0;
  for (let bits = 0; bits < 16; bits++) {
    const client = clientOf(bits);
    const said = await askFrom(client.address, unbound.port, names);
    blocked += said.filter(Boolean).length;
    assert.deepEqual(
      names.filter((name, index) => said[index] !== model.isBlocked(name, client.tags)),
      [],
      client.tags.join(" "),
    );
  }
  context.diagnostic(`unbound, tags: ${names.length * 16} questions, ${blocked} blocked, 0 wrong`);
  assert.ok(blocked > 0);
});

test("the memory for 16 combinations is less than 1.33 times that of the largest list", async (context) => {
  const upstream = await startUpstream();
  context.after(() => upstream.close());
  // Each list has the names of the ones before, and as many more.
  const { folder, tags, alone } = await compiled(context, (list) =>
    Array.from(
      { length: (NAMES * (list + 1)) / 4 },
      (_, index) => `||n${index}.d${index % 997}.example^`,
    ),
  );
  const memory: number[] = [];
  for (const list of [alone, tags]) {
    const unbound = await startUnbound(context, folder, list, upstream.port);
    memory.push(unbound.memory());
    unbound.stop();
  }
  const [single, combined] = memory as [number, number];
  const ratio = combined / single;
  context.diagnostic(
    `unbound, ${NAMES} names: ${single} kB alone, ${combined} kB with tags, ${ratio.toFixed(2)} times`,
  );
  assert.ok(ratio < 1.33, `${ratio}`);
});
