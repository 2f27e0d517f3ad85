import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonOf } from "../../src/diagnostics/text.ts";

test("a reason has the code once, in plain words", () => {
  for (const [code, message, reason] of [
    [
      "ECONNREFUSED",
      "connect ECONNREFUSED 127.0.0.1:8123",
      "ECONNREFUSED: connection refused (127.0.0.1:8123)",
    ],
    [
      "ENOTFOUND",
      "getaddrinfo ENOTFOUND lists.example",
      "ENOTFOUND: the name has no address (lists.example)",
    ],
    ["ECONNRESET", "read ECONNRESET", "ECONNRESET: connection reset"],
    ["ENOENT", "ENOENT: no such file or directory, open 'a'", "ENOENT: no such file or directory"],
    ["ETIMEDOUT", "no answer within 20 s", "ETIMEDOUT: no answer within 20 s"],
    [
      "ECONNRESET",
      "the response ended after 5 bytes",
      "ECONNRESET: the response ended after 5 bytes",
    ],
  ] as const)
    assert.equal(reasonOf(code, message), reason);
});
