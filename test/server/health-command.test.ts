import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";

const UNWELL = JSON.stringify({
  status: "unhealthy",
  reason: "the last successful build is 20.0 h old",
});

test("health is a name of status that containers use: it reports the answer of the server, or that it is not one of ours", async () => {
  const answers: [number, string, number, RegExp][] = [
    [503, UNWELL, 11, /unhealthy[^]*the last successful build is 20\.0 h old/],
    [503, "", 11, /unhealthy[^]*the response has status 503/],
    [200, "<html>", 11, /unhealthy[^]*the response has status 200/],
    [200, '{"status":"healthy","reason":"as it should be"}', 0, /^healthy: as it should be\n/],
  ];
  for (const [status, body, exit, said] of answers) {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    const asking = await runProgram(["health", "--port", String(port)]);
    server.close();
    assert.equal(asking.exit, exit, asking.stderr);
    assert.match(exit === 0 ? asking.stdout : asking.stderr, said);
  }
});
