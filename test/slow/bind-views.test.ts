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
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import { startServer } from "../support/resolvers/zone-servers.ts";

const LISTS = ["one", "two", "three", "four"];
const NAMES = isNightly ? 100_000 : 20_000;
const PATIENCE_MS = 60_000;

/** The address of a client. Every combination of lists has one. */
function addressOf(bits: number): string {
  return `127.0.1.${bits + 1}`;
}

interface Compiled {
  readonly folder: string;
  readonly views: string;
  readonly alone: string;
  /** The published lists. */
  readonly texts: readonly string[];
}

interface ClientGroup {
  readonly name: string;
  readonly clients: readonly string[];
  readonly lists?: readonly string[];
}

/** A group for every combination of lists. */
const COMBINATIONS: readonly ClientGroup[] = Array.from({ length: 15 }, (_, index) => ({
  name: `group-${index + 1}`,
  // A second network, which no client of the test is in.
  clients: [addressOf(index + 1), `2001:db8:0:0:${index}::/80`],
  lists: LISTS.filter((_list, list) => ((index + 1) & (1 << list)) !== 0),
}));

/** Compiles four lists for groups of clients, and the largest list alone. */
async function compiled(
  context: TestContext,
  rules: (list: number) => readonly string[],
  more: { readonly isNested?: boolean; readonly groups?: readonly ClientGroup[] } = {},
): Promise<Compiled> {
  const project = new DiskProject(context);
  for (const [index, name] of LISTS.entries())
    project.write(`${name}.txt`, `${rules(index).join("\n")}\n`);
  const { groups = COMBINATIONS } = more;
  const config = {
    name: "All",
    sources: LISTS.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    outputs: [{ format: "rpz", file: "{slug}.rpz" }],
    lists: LISTS.map((name, list) => ({
      name,
      sources: [name],
      ...(more.isNested === true && list > 0 && { covers: [LISTS[list - 1]] }),
    })),
    combined: [
      {
        format: "bind-views",
        file: "views.conf",
        groups,
        include: join(project.folder, "every.conf"),
      },
    ],
  };
  project.write("c.json", JSON.stringify(config));
  const { exit, stderr } = await project.run("-c", "c.json", "--no-cache", "--no-record");
  assert.equal(exit, 0, stderr);
  const file = (name: string): string => join(project.folder, "rules", name);
  writeFileSync(
    file("alone.conf"),
    `view "alone" { match-clients { any; }; include "${project.folder}/every.conf";
 response-policy { zone "rpz.local"; } break-dnssec yes qname-wait-recurse no;
 zone "rpz.local" { type primary; file "${file("four.rpz")}"; }; };\n`,
  );
  return {
    folder: project.folder,
    views: file("views.conf"),
    alone: file("alone.conf"),
    texts: LISTS.map((name) => readFileSync(file(`${name}.txt`), "utf8")),
  };
}

interface Named {
  readonly port: number;
  /** Resident memory in kB. */
  memory(): number;
  stop(): Promise<void>;
}

async function startNamed(
  context: TestContext,
  folder: string,
  conf: string,
  upstream: number,
): Promise<Named> {
  const port = await freeTcpPort();
  writeFileSync(
    join(folder, "every.conf"),
    `forward only; forwarders { 127.0.0.1 port ${upstream}; };\n`,
  );
  const path = join(folder, `named-${port}.conf`);
  writeFileSync(
    path,
    `options { directory "${folder}"; pid-file none; session-keyfile none; listen-on port ${port} { 127.0.0.1; };
 listen-on-v6 { none; }; recursion yes; allow-recursion { any; }; dnssec-validation no; max-cache-size 8m; };
controls {};
logging { category rpz { null; }; category rpz-passthru { null; }; };
include "${conf}";
`,
  );
  const server = startServer(["named", "-g", "-n", "1", "-c", path]);
  context.after(() => server.child.kill("SIGKILL"));
  const began = Date.now();
  while (!server.log().includes("all zones loaded")) {
    assert.ok(Date.now() - began < PATIENCE_MS && server.child.exitCode === null, server.log());
    await sleep(50);
  }
  assert.doesNotMatch(server.log(), /invalid rpz|not loaded|rpz.*failed/i);
  const memory = (): number => {
    const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(?<kb>\d+)/.exec(status)?.groups?.["kb"]);
  };
  return {
    port,
    memory,
    stop: async () => {
      const ended = new Promise((done) => server.child.once("exit", done));
      server.child.kill("SIGKILL");
      await ended;
    },
  };
}

for (const isMixed of [false, true])
  test(`BIND answers 16 combinations of lists ${isMixed ? "with exceptions" : "of names"} as the lists say`, async (context) => {
    const upstream = await startUpstream();
    context.after(() => upstream.close());
    const random = new Random(isMixed ? 35 : 34);
    const { folder, views, texts } = await compiled(context, () =>
      relatedRules(random, 40, isMixed),
    );
    const named = await startNamed(context, folder, views, upstream.port);
    const lists = texts.map((text) => new NaiveNames(text));
    const names = relatedNames(random, 160);
    // The zones are in use a moment after they are loaded.
    const first = names.find((name) => lists[3]!.isBlocked(name));
    for (const began = Date.now(); Date.now() - began < PATIENCE_MS; await sleep(100))
      if ((await askFrom(addressOf(8), named.port, [first!]))[0] === true) break;
    let blocked = 0;
    for (let bits = 0; bits < 16; bits++) {
      const said = await askFrom(addressOf(bits), named.port, names);
      blocked += said.filter(Boolean).length;
      const own = lists.filter((_, list) => (bits & (1 << list)) !== 0);
      assert.deepEqual(
        names.filter((name, index) => said[index] !== own.some((list) => list.isBlocked(name))),
        [],
        `lists ${bits.toString(2)}`,
      );
    }
    context.diagnostic(`BIND, views: ${names.length * 16} questions, ${blocked} blocked, 0 wrong`);
    assert.ok(blocked > 0);
  });

test("BIND gives a client the lists of its smallest network", async (context) => {
  const upstream = await startUpstream();
  context.after(() => upstream.close());
  const groups: ClientGroup[] = [
    { name: "home", clients: ["127.0.0.0/8", "127.1.1.0/24"], lists: ["one"] },
    { name: "guests", clients: ["127.1.0.0/16", "127.1.1.64/26"], lists: ["two", "three"] },
    { name: "admin", clients: ["127.1.1.7"], lists: [] },
    { name: "all", clients: ["127.3.0.0/16"] },
    // No trigger of a policy zone can have all addresses.
    { name: "six", clients: ["::/0"], lists: ["one", "two"] },
    { name: "lan", clients: ["2001:db8::/32"], lists: ["one", "two", "three"] },
  ];
  const rulesOf = (list: number): string[] => [`||${LISTS[list]}.example^`];
  const { folder, views } = await compiled(context, rulesOf, { groups });
  const named = await startNamed(context, folder, views, upstream.port);
  const names = LISTS.map((list) => `a.${list}.example`);
  const expected = {
    "127.2.0.1": ["one"],
    "127.1.1.5": ["one"],
    "127.1.0.9": ["two", "three"],
    "127.1.1.70": ["two", "three"],
    "127.1.1.7": [],
    "127.3.0.1": LISTS,
  };
  for (const began = Date.now(); Date.now() - began < PATIENCE_MS; await sleep(100))
    if ((await askFrom("127.3.0.1", named.port, names)).every(Boolean)) break;
  for (const [address, lists] of Object.entries(expected)) {
    const said = await askFrom(address, named.port, names);
    assert.deepEqual(
      LISTS.filter((_, list) => said[list]),
      lists,
      address,
    );
  }
});

for (const isNested of [true, false])
  test(`the memory of BIND for 16 combinations of ${isNested ? "lists that cover each other" : "separate lists"}`, async (context) => {
    const upstream = await startUpstream();
    context.after(() => upstream.close());
    const quarter = NAMES / 4;
    const { folder, views, alone } = await compiled(
      context,
      (list) =>
        Array.from({ length: isNested ? quarter * (list + 1) : quarter }, (_, index) => {
          const number = isNested ? index : index + list * quarter;
          return `||n${number}.d${number % 997}.example^`;
        }),
      { isNested },
    );
    const memory: number[] = [];
    for (const conf of [alone, views]) {
      const named = await startNamed(context, folder, conf, upstream.port);
      memory.push(await settled(named));
      await named.stop();
    }
    const [single, combined] = memory as [number, number];
    const count = readFileSync(views, "utf8").match(/^view /gm)!.length;
    context.diagnostic(
      `BIND, ${NAMES} names, ${count} views: ${single} kB alone, ${combined} kB for all, ${(combined / single).toFixed(2)} times`,
    );
    // One view for the lists, and one for other clients. Separate lists need a view for each of six chains of combinations.
    assert.equal(count, isNested ? 2 : 7);
    if (isNested) assert.ok(combined / single < 1.3, `${combined / single}`);
  });

/** The memory after BIND has built its tables of policies. */
async function settled(named: Named): Promise<number> {
  let last = 0;
  for (let same = 0; same < 6; await sleep(250)) {
    const now = named.memory();
    same = Math.abs(now - last) < 200 ? same + 1 : 0;
    last = now;
  }
  return last;
}
