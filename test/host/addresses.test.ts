import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutCredentials } from "../../src/diagnostics/text.ts";
import { isPublicAddress, proxyFor } from "../../src/host/network.ts";
import { CompilerError, compile, nodeHost } from "../support/internals.ts";

/** Addresses that no list is fetched from, however they are written. */
const REFUSED = [
  "http://127.0.0.1/",
  "http://127.1/",
  "http://127.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://１２７.0.0.1/",
  "http://127。0。0。1/",
  "http://0.0.0.0/",
  "http://0/",
  "http://10.0.0.1/",
  "http://100.64.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.0.0.1/",
  "http://192.0.2.1/",
  "http://192.168.0.1/",
  "http://198.18.0.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://224.0.0.1/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://[::]/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[::127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[2001::1]/",
  "http://[2001:db8::1]/",
  "http://[fc00::1]/",
  "http://[fd12:3456::1]/",
  "http://[fe80::1]/",
  "http://[fec0::1]/",
  "http://[ff02::1]/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://a.localhost/",
  "http://router.local/",
  "http://metadata.google.internal/",
  "https://user:pass@127.0.0.1/",
];

for (const url of REFUSED)
  test(`${url} is not fetched`, async () => {
    const error = await compile(
      { name: "n", sources: [{ source: url }] },
      { host: nodeHost() },
    ).then(
      () => assert.fail("fetched"),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof CompilerError, String(error));
    assert.equal(error.diagnostics[0]!.code, "private-address");
    assert.match(error.diagnostics[0]!.hint ?? "", /allow_private/);
    assert.doesNotMatch(JSON.stringify(error.diagnostics), /pass@/);
  });

test("public addresses are public", () => {
  for (const address of [
    "1.1.1.1",
    "93.184.216.34",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "64:ff9b::101:101",
    "2002:101:101::",
    "::ffff:1.1.1.1",
  ])
    assert.equal(isPublicAddress(address), true, address);
  for (const text of ["", "example.org", "1.2.3", "1.2.3.256", "::g", "1.1.1.1.1"])
    assert.equal(isPublicAddress(text), false, text);
});

test("proxies and exceptions come from the environment, in upper or lower case", () => {
  const both = { HTTP_PROXY: "http://plain:3128", HTTPS_PROXY: "http://secure:3128" };
  for (const [url, env, host] of [
    ["http://a.example/", both, "plain"],
    ["https://a.example/", both, "secure"],
    ["http://a.example/", { ...both, http_proxy: "http://lower:1" }, "lower"],
    ["https://a.example/", { ALL_PROXY: "all:8080" }, "all"],
    ["https://a.example/", { HTTP_PROXY: "http://plain:3128" }, undefined],
    ["http://a.example/", { HTTP_PROXY: "" }, undefined],
    ["http://a.example/", { ...both, NO_PROXY: "*" }, undefined],
    ["http://a.example/", { ...both, NO_PROXY: "a.example" }, undefined],
    ["http://x.a.example/", { ...both, NO_PROXY: "b.example, a.example" }, undefined],
    ["http://x.a.example/", { ...both, no_proxy: ".a.example" }, undefined],
    ["http://xa.example/", { ...both, NO_PROXY: "a.example" }, "plain"],
    ["http://a.example:81/", { ...both, NO_PROXY: "a.example:82" }, "plain"],
    ["http://a.example:81/", { ...both, NO_PROXY: "a.example:81" }, undefined],
    ["https://a.example/", { ...both, NO_PROXY: "a.example:443" }, undefined],
    ["http://10.1.2.3/", { ...both, NO_PROXY: "10.0.0.0/8" }, undefined],
    ["http://11.1.2.3/", { ...both, NO_PROXY: "10.0.0.0/8" }, "plain"],
    ["http://[::1]/", { ...both, NO_PROXY: "::1" }, undefined],
    ["http://[::1]:80/", { ...both, NO_PROXY: "[::1]:80" }, undefined],
  ] as const)
    assert.equal(proxyFor(new URL(url), env)?.hostname, host, `${url} ${JSON.stringify(env)}`);
  assert.throws(() => proxyFor(new URL("http://a/"), { HTTP_PROXY: "socks5://x:1" }), /socks5/);
});

test("passwords and queries are removed from URLs in every spelling, and nothing else is", () => {
  for (const [address, shown] of [
    ["https://user:pw@host/x", "https://host/x"],
    ["http:///user:pw@host/x", "http:///host/x"],
    [" https://user:pw@host/x", "https://host/x"],
    ["https://user:p/w@host/x", "https://host/x"],
    ["//user:pw@host/x", "//host/x"],
    ["https://cdn.example/gh/user/repo@1.0/l.txt", "https://cdn.example/gh/user/repo@1.0/l.txt"],
    ["https://host/?mail=a@b.c", "https://host/?…"],
    ["https://host/l.txt?token=s3cret&x=1", "https://host/l.txt?…"],
    ["https://user:pw@host?token=s3cret", "https://host?…"],
    ["https://host/l.txt#s3cret", "https://host/l.txt#…"],
    ["//host/l.txt?s3cret", "//host/l.txt?…"],
    ["http://user:pw@[broken/l.txt?s3cret", "http://[broken/l.txt?…"],
    ["lists/a@b.txt", "lists/a@b.txt"],
    ["lists/what?.txt", "lists/what?.txt"],
  ] as const)
    assert.equal(withoutCredentials(address), shown, address);
  for (const [address, shown] of [
    ["https://user:pw@host/s3cret/l.txt?x", "https://host/…"],
    ["https://host?s3cret", "https://host?…"],
    ["https://[::1]:8080/s3cret", "https://[::1]:8080/…"],
    ["http:///host/s3cret", "http:///host/…"],
    ["//host/s3cret", "//host/…"],
    ["https://host", "https://host"],
    ["lists/a.txt", "lists/a.txt"],
  ] as const)
    assert.equal(withoutCredentials(address, true), shown, address);
});
