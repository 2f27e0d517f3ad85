import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf, networkText, overlap } from "../../src/config/network.ts";
import { clientViews, levelNames } from "../../src/formats/combined/client-levels.ts";
import { projectOf } from "../support/lists-project.ts";
import { Random } from "../support/random.ts";

const LISTS = ["a", "b", "c", "d"];
const TEXTS = Object.fromEntries(LISTS.map((name) => [name, `||${name}.example^\n`]));

function configOf(groups: readonly (readonly [name: string, lists: string, client: string])[]): {
  readonly format: "bind-views";
  readonly file: string;
  readonly groups: readonly { name: string; clients: string[]; lists: string[] }[];
} {
  return {
    format: "bind-views",
    file: "views.conf",
    groups: groups.map(([name, lists, client]) => ({ name, clients: [client], lists: [...lists] })),
  };
}

/** The views, as names of levels. */
function viewsOf(config: ReturnType<typeof configOf>, covers: object = {}): string[] {
  const known = covers as Record<string, string[]>;
  const lists = LISTS.map((name) => ({ name, tag: name, covers: known[name] ?? [] }));
  return clientViews(config, lists).map((view) => view.map(({ name }) => name).join(" < "));
}

function textOf(network: string): string | undefined {
  const found = networkOf(network);
  return found && networkText(found);
}

test("networks are read without the bits of hosts", () => {
  assert.equal(textOf("192.0.2.77/24"), "192.0.2.0/24");
  assert.equal(textOf("192.0.2.77"), "192.0.2.77/32");
  assert.equal(textOf("2001:db8::1"), "2001:db8:0:0:0:0:0:1/128");
  assert.equal(textOf("::/0"), "0:0:0:0:0:0:0:0/0");
  for (const wrong of [
    "",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.0/33",
    "1::2::3",
    "1:2",
    "::/129",
    "x",
  ])
    assert.equal(networkOf(wrong), undefined, wrong);
  const [wide, small] = [networkOf("10.0.0.0/8")!, networkOf("10.1.0.0/16")!];
  assert.ok(overlap(wide, small) && overlap(small, wide));
  assert.ok(!overlap(small, networkOf("10.2.0.0/16")!) && !overlap(wide, networkOf("::/0")!));
});

test("groups share a view if one has the lists of the other", () => {
  const all = configOf(
    Array.from({ length: 15 }, (_, index) => [
      `g${index + 1}`,
      LISTS.filter((_list, bit) => ((index + 1) & (1 << bit)) !== 0).join(""),
      `10.0.0.${index}`,
    ]),
  );
  // Six sets of two lists cannot share a view.
  assert.equal(viewsOf(all).length, 6);
  assert.equal(levelNames(all).length, 15);
  // Lists that cover each other are one view.
  assert.equal(viewsOf(all, { b: ["a"], c: ["b"], d: ["c"] }).length, 1);
});

test("groups with the same lists share a zone, and groups that share clients have views of their own", () => {
  const same = configOf([
    ["x", "a", "10.0.0.1"],
    ["y", "ab", "10.0.0.2"],
    ["z", "a", "10.0.0.3"],
  ]);
  assert.deepEqual(viewsOf(same), ["x < y"]);
  assert.deepEqual(levelNames(same), ["x", "y"]);
  const nested = configOf([
    ["all", "a", "10.0.0.0/8"],
    ["some", "ab", "10.1.0.0/16"],
  ]);
  assert.deepEqual(viewsOf(nested), ["all", "some"]);
});

test("the statements name zones, clients and what every view includes", async () => {
  const groups = [
    { name: "all", clients: ["10.0.0.0/8"], lists: ["a"] },
    { name: "some", clients: ["10.1.0.0/16"], lists: ["a", "b"] },
    { name: "six", clients: ["2001:db8::/32"], lists: ["c"] },
    { name: "more", clients: ["192.0.2.1"], lists: ["c", "d"] },
  ];
  const lists = LISTS.map((name) => ({ name, sources: [name] }));
  const combined = [{ format: "bind-views", file: "v.conf", groups, include: '/etc/a"b' }];
  const project = projectOf(TEXTS, lists, { combined });
  const { exit, stderr } = await project.run("--no-cache");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /written rules\/v\.conf: bind-views, 4 names/);
  const text = project.text("rules/v.conf");
  assert.match(text, /match-clients \{ !10\.1\.0\.0\/16; 10\.0\.0\.0\/8; \};/);
  assert.match(text, /response-policy \{ zone "six\.rpz"; zone "more\.rpz"; \} break-dnssec/);
  assert.match(text, /include "\/etc\/a\\"b";/);
  const more = project.text("rules/v.conf.more.rpz");
  assert.match(more, /^32\.zz\.db8\.2001\.rpz-client-ip CNAME rpz-passthru\.$/m);
  assert.match(more, /^d\.example CNAME \.$/m);
  assert.doesNotMatch(more, /^c\.example/m);
});

/** The view of a client: BIND uses the first view whose list of networks says yes, and in it the first network that matches. */
function viewOf(conf: string, client: string): string | undefined {
  const at = networkOf(client)!;
  const acls = new Map(
    [...conf.matchAll(/^acl "(.+)" \{ (.*) \};$/gm)].map(([, name, body]) => [name!, body!]),
  );
  for (const [, view, body] of conf.matchAll(/^view "(.+)" \{\n {2}match-clients \{ (.*) \};$/gm)) {
    const networks = body!.replace(/"([^"]+)";/g, (_, name: string) => acls.get(name)!);
    for (const one of networks.split(" ")) {
      const { not, text } = /^(?<not>!?)(?<text>[^;]+);$/.exec(one)!.groups!;
      if (text !== "any" && !overlap(networkOf(text!)!, at)) continue;
      if (not === "") return view;
      break;
    }
  }
  return undefined;
}

test("a client is in the view of its smallest network", async () => {
  const random = new Random(36);
  for (let round = 0; round < 20; round++) {
    const networks = new Set(
      random.times(10, () =>
        networkText(
          networkOf(
            `10.0.${random.pick([0, 1, 2, 3])}.${random.pick([0, 16, 33])}/${random.pick([8, 22, 23, 24, 28, 32])}`,
          )!,
        ),
      ),
    );
    const groups = LISTS.map((name) => ({ name, clients: [] as string[], lists: [name] }));
    for (const network of networks) random.pick(groups).clients.push(network);
    const used = groups.filter(({ clients }) => clients.length > 0);
    const project = projectOf(
      TEXTS,
      LISTS.map((name) => ({ name, sources: [name] })),
      { combined: [{ format: "bind-views", file: "v.conf", groups: used }] },
    );
    const { exit, stderr } = await project.run("--no-cache", "--no-record");
    assert.equal(exit, 0, stderr);
    const conf = project.text("rules/v.conf");
    for (const client of [
      ...random.times(20, () => `10.0.${random.pick([0, 1, 2, 3])}.${random.pick([0, 1, 16, 33])}`),
      "10.9.9.9",
      "192.0.2.1",
    ]) {
      const own = used
        .flatMap(({ name, clients }) => clients.map((one) => ({ name, net: networkOf(one)! })))
        .filter(({ net }) => overlap(net, networkOf(client)!))
        .toSorted((a, b) => b.net.prefix - a.net.prefix)[0];
      const expected = `rules-${own?.name ?? "others"}`;
      assert.equal(viewOf(conf, client), expected, `${client} in round ${round}\n${conf}`);
    }
  }
});

test("a list that does not cover another one does not get its names", async () => {
  const groups = [
    { name: "x", clients: ["10.0.0.1"], lists: ["a"] },
    { name: "y", clients: ["10.0.0.2"], lists: ["b"] },
  ];
  const said = async (b: string): Promise<string> => {
    const lists = [
      { name: "a", sources: ["a"] },
      { name: "b", sources: ["b"], covers: ["a"] },
    ];
    const project = projectOf({ ...TEXTS, b }, lists, {
      combined: [{ format: "bind-views", file: "v.conf", groups }],
    });
    const { exit, stderr } = await project.run("--accept", "not-covered");
    assert.equal(exit, 0, stderr);
    return project.text("rules/v.conf");
  };
  const shared = /response-policy \{ zone "x\.rpz"; zone "y\.rpz"; \}/;
  assert.match(await said("||a.example^\n||b.example^\n"), shared);
  assert.doesNotMatch(await said("||b.example^\n"), shared);
});

test("no lists, and all lists, are different lists", () => {
  const config = {
    format: "bind-views" as const,
    file: "v",
    groups: [
      { name: "none", clients: ["10.0.0.1"], lists: [] },
      { name: "all", clients: ["10.0.0.2"] },
    ],
  };
  const lists = LISTS.map((name) => ({ name, tag: name, covers: [] }));
  const [view] = clientViews(config, lists);
  assert.deepEqual(
    view!.map(({ name, lists: bits }) => [name, bits]),
    [
      ["none", 0],
      ["all", 15],
    ],
  );
});

function oneGroup(more: object): object {
  return { format: "bind-views", groups: [{ name: "x", clients: ["10.0.0.1"], ...more }] };
}

test("what is wrong with groups is an error", async () => {
  const lists = LISTS.map((name) => ({ name, sources: [name] }));
  const said = async (entry: object): Promise<string> => {
    const project = projectOf(TEXTS, lists, { combined: [{ file: "v", ...entry }] });
    const { exit, stderr } = await project.run("--no-cache");
    assert.equal(exit, 2, stderr);
    return stderr;
  };
  assert.match(await said({ format: "bind-views" }), /combined\[0\] has no groups/);
  assert.match(await said({ ...oneGroup({}), format: "cdb" }), /which cdb does not use/);
  assert.match(await said(oneGroup({ name: "a b" })), /is not letters, digits and hyphens/);
  assert.match(await said(oneGroup({ clients: ["10.0.0"] })), /not an address or a network/);
  assert.match(
    await said(oneGroup({ clients: ["10.0.0.1", "10.0.0.1/32"] })),
    /10\.0\.0\.1\/32 again/,
  );
  assert.match(await said(oneGroup({ lists: ["nope"] })), /which the file does not have/);
  assert.match(await said(oneGroup({ name: "Others" })), /the view for all other clients/);
  assert.match(await said(oneGroup({ clients: [] })), /the group x has no clients/);
});
