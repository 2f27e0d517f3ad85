import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { resolversOf } from "../../src/config/resolvers.ts";
import { CompilerError, type Config, loadConfig, memoryHost } from "../support/internals.ts";
import { propertyRuns } from "../support/property.ts";

async function configOf(more: object): Promise<Config> {
  const config = {
    name: "List",
    sources: [{ name: "A", source: "a.txt", type: "hosts" }],
    ...more,
  };
  const host = memoryHost({ files: { "c.json": JSON.stringify(config) } });
  return (await loadConfig("c.json", host)).config;
}

async function problemsOf(resolvers: unknown, more: object = {}): Promise<string> {
  try {
    await configOf({ resolvers, ...more });
    return "";
  } catch (error) {
    assert.ok(error instanceof CompilerError, String(error));
    for (const { code, at, hint } of error.diagnostics) {
      assert.match(code, /^config-/);
      assert.ok(at !== undefined && hint !== undefined, code);
    }
    return error.message;
  }
}

test("an address may carry protocol and port", async () => {
  const written = [
    "192.0.2.53",
    "192.0.2.53:5353",
    "2001:db8::53",
    "[2001:db8::53]:5353",
    "tls://dns.example",
    "tls://dns.example:8853",
    "tcp://192.0.2.53",
    "localhost",
  ];
  const resolvers = resolversOf(await configOf({ resolvers: written }));
  assert.deepEqual(
    resolvers.map(({ name, address, port, protocol }) => [name, address, port, protocol]),
    [
      [written[0], "192.0.2.53", 53, "udp"],
      [written[1], "192.0.2.53", 5353, "udp"],
      [written[2], "2001:db8::53", 53, "udp"],
      [written[3], "2001:db8::53", 5353, "udp"],
      [written[4], "dns.example", 853, "tls"],
      [written[5], "dns.example", 8853, "tls"],
      [written[6], "192.0.2.53", 53, "tcp"],
      [written[7], "localhost", 53, "udp"],
    ],
  );
  const [one] = resolversOf(
    await configOf({
      resolvers: [
        {
          name: "home",
          address: "tls://192.0.2.1#dns.home",
          list: "List",
        },
      ],
    }),
  );
  assert.deepEqual(one, {
    name: "home",
    address: "192.0.2.1",
    port: 853,
    protocol: "tls",
    serverName: "dns.home",
    list: "List",
    group: "",
    mayRollBack: false,
  });
});

test("a resolver may roll the list back", async () => {
  const resolvers = [{ address: "192.0.2.1", on_failure: "rollback" }];
  assert.equal(resolversOf(await configOf({ resolvers }))[0]!.mayRollBack, true);
  assert.match(await problemsOf([{ address: "192.0.2.1", on_failure: "undo" }]), /on_failure/);
});

test("what cannot be asked is reported with what to write", async () => {
  const lists = { lists: [{ name: "Light" }, { name: "Pro" }] };
  assert.match(await problemsOf(["https://dns.example"]), /neither an IP address nor a host name/);
  assert.match(await problemsOf(["192.0.2.999"]), /neither an IP/);
  assert.match(await problemsOf(["192.0.2.1:0"]), /neither an IP/);
  assert.match(await problemsOf(["[::1"]), /neither an IP/);
  assert.match(await problemsOf([""]), /resolvers\[0\] is required/);
  assert.match(await problemsOf([53]), /resolvers\[0\] must be a string/);
  assert.match(await problemsOf("192.0.2.1"), /resolvers must be a list/);
  assert.match(await problemsOf([{ name: "x" }]), /address of resolvers\[0\] is required/);
  assert.match(await problemsOf(["192.0.2.1:0"]), /neither an IP/);
  assert.match(await problemsOf(["a.b#c"]), /protocol is not tls/);
  assert.match(
    await problemsOf([{ address: "a.b", list: "Lst" }]),
    /list Lst, which does not exist/,
  );
  assert.match(await problemsOf(["192.0.2.1"], lists), /does not say which list/);
  assert.equal(await problemsOf([{ address: "192.0.2.1", list: "Pro" }], lists), "");
  assert.match(await problemsOf(["192.0.2.1", "192.0.2.1"]), /same name as another/);
});

test("hooks belong to resolvers and groups that exist, and hear what concerns a resolver", async () => {
  const resolvers = [
    { name: "a1", address: "192.0.2.1", group: "edge" },
    { name: "a2", address: "192.0.2.2" },
  ];
  const hook = { reload: "unbound", with: ["-s", "{address}"], each: ["edge", "a2"] };
  const problemOf = async (...after: object[]): Promise<string> =>
    await problemsOf(resolvers, { after });
  assert.equal(await problemOf(hook), "");
  assert.equal(await problemOf({ ...hook, on: ["published", "degraded", "recovered"] }), "");
  assert.match(await problemOf({ ...hook, each: [] }), /after\[0\].each is empty/);
  assert.match(await problemOf({ ...hook, each: ["egde"] }), /resolver egde, which does not/);
  assert.match(await problemOf({ ...hook, on: ["refused"] }), /does not apply to refused/);
  assert.match(
    await problemOf({ post: "url", as: "healthchecks", each: ["a2"] }),
    /does not apply to healthchecks/,
  );
  const twice = { name: "x", run: ["sh"] };
  assert.match(await problemOf(twice, twice), /after\[0\] has the same name as another hook/);
  const named = [...resolvers, { name: "edge", address: "192.0.2.3" }];
  assert.match(await problemsOf(named), /has the name of a group: edge/);
  // The address is known before the URL is judged.
  const api = { reload: "pi-hole", url: "http://{address}", each: ["edge"] };
  const near = [{ ...resolvers[0], address: "192.168.1.2" }];
  assert.equal(await problemsOf(near, { after: [api] }), "");
  const far = [{ ...resolvers[0], address: "8.8.8.8" }];
  assert.match(await problemsOf(far, { after: [api] }), /must be an https URL/);
});

test("any text is an address that can be asked, or a problem", async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.stringMatching(/^(?:tls:\/\/|udp:\/\/)?[\d.:a-f[\]]{1,20}$/),
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV6().map((address) => `[${address}]:53`),
    fc.domain(),
  );
  const seen = { good: 0, bad: 0 };
  await fc.assert(
    fc.asyncProperty(text, async (address) => {
      const problem = await problemsOf([address]);
      seen[problem === "" ? "good" : "bad"]++;
      if (problem !== "") return;
      const [one] = resolversOf(await configOf({ resolvers: [address] }));
      assert.match(one!.address, /^[\w.:-]+$/);
      assert.ok(one!.port > 0 && one!.port < 65_536);
    }),
    propertyRuns(600),
  );
  assert.ok(seen.good > 50 && seen.bad > 50, JSON.stringify(seen));
});

test("addresses of every kind are accepted", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()), async (address) => {
      assert.equal(await problemsOf([address]), "", address);
    }),
    propertyRuns(200),
  );
});
