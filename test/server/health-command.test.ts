import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";

const UNWELL = JSON.stringify({ status: "unhealthy", reason: "the last good list is 20.0 h old" });

test("health says what the server says, whatever answers on that port", async () => {
  const answers: [number, string, number, RegExp][] = [
    [503, UNWELL, 11, /unhealthy[^]*the last good list is 20\.0 h old/],
    [503, "", 11, /unhealthy[^]*the response has status 503/],
    [200, "<html>", 11, /unhealthy[^]*the response has status 200/],
    [200, '{"status":"healthy","reason":"as it should be"}', 0, /^healthy: as it should be\n$/],
  ];
  for (const [status, body, exit, said] of answers) {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    const asking = await runProgram(["health", "--port", String(port)]);
    server.close();
    assert.equal(asking.exit, exit, asking.stderr);
    assert.match(asking.stderr, said);
  }
});
