import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { freeTcpPort } from "../support/resolvers/reloadable.ts";
import { Served } from "../support/served.ts";

const LINES = Array.from({ length: 3000 }, (_, index) => `||d${index}.example^`);
const NAME = "lists.example.org";
const ONCE_A_YEAR = ["--schedule", "0 0 1 1 *"] as const;

/** A real nginx with these servers, in the foreground. */
async function nginx(
  context: TestContext,
  served: Served,
  servers: string,
  port: number,
): Promise<void> {
  const { folder } = served;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (one) => `${one}_temp_path ${folder}/${one};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const config = `daemon off; ${user} pid ${folder}/nginx.pid; error_log stderr;
events {}
http { access_log off; ${temporary.join(" ")}
${servers}
}`;
  writeFileSync(join(folder, "nginx.conf"), config);
  const child = spawn("nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (piece: Uint8Array) => (log = (log + String(piece)).slice(-2000)));
  context.after(async () => {
    const ended = new Promise((closed) => child.on("close", closed));
    child.kill("SIGTERM");
    await ended;
  });
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.once("connect", () => resolve(socket.end() !== undefined));
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((later) => setTimeout(later, 50));
  }
  assert.fail(`nginx did not start: ${log}`);
}

interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/** The real client names any host. */
function ask(options: https.RequestOptions): Promise<Reply> {
  const request = options.protocol === "https:" ? https.request : http.request;
  return new Promise((resolve, reject) => {
    request(
      { host: "127.0.0.1", agent: false, rejectUnauthorized: false, ...options },
      (response) => {
        const pieces: Uint8Array[] = [];
        response.on("data", (piece: Uint8Array) => pieces.push(piece));
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }),
        );
      },
    )
      .once("error", reject)
      .end();
  });
}

test(
  "a plain nginx on the same machine lets nobody act without the token",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, LINES);
    served.env = { SERVE_HOSTNAME: NAME };
    await served.start(...ONCE_A_YEAR);
    await served.event("run-ended");
    const [plain, named] = [await freeTcpPort(), await freeTcpPort()];
    const pass = `proxy_pass http://127.0.0.1:${served.port};`;
    const servers = `server { listen 127.0.0.1:${plain}; location / { ${pass} } }
server { listen 127.0.0.1:${named}; location / { ${pass} proxy_set_header Host $http_host; } }`;
    await nginx(context, served, servers, named);
    const list = readFileSync(join(served.folder, "rules/my-list.txt"));
    const proxies = [
      {},
      { "cf-connecting-ip": "127.0.0.1" },
      { "x-forwarded-for": "127.0.0.1" },
      { forwarded: "for=127.0.0.1" },
      { host: "localhost" },
    ];
    for (const port of [plain, named])
      for (const path of ["/compile", "/rollback", "/hold", "/hold?end"]) {
        for (const headers of proxies)
          assert.equal((await ask({ port, path, method: "POST", headers })).status, 401, path);
        const page = { ...served.authorization, origin: "https://evil.example" };
        assert.equal((await ask({ port, path, method: "POST", headers: page })).status, 403, path);
      }
    assert.equal(served.events.filter(({ event }) => event === "action").length, 0);
    assert.equal(served.events.filter(({ event }) => event === "run-started").length, 1);
    // Whoever has the token may act from anywhere.
    const headers = served.authorization;
    for (const path of ["/hold", "/hold?end"])
      assert.equal((await ask({ port: plain, path, method: "POST", headers })).status, 200, path);

    for (const path of ["/", "/health", "/metrics", "/report", "/why?name=d1.example"]) {
      assert.equal((await ask({ port: plain, path })).status, 200, path);
      assert.equal((await ask({ port: named, path, headers: { host: NAME } })).status, 200, path);
      const rebound = { host: "rebound.evil.example" };
      assert.equal((await ask({ port: named, path, headers: rebound })).status, 421, path);
    }
    const path = "/rules/my-list.txt";
    assert.deepEqual((await ask({ port: named, path, headers: { host: "any.name" } })).body, list);
    await served.stop();
  },
);

test("the shipped configuration of nginx serves lists with TLS and nothing else", async (context) => {
  const served = new Served(context, LINES);
  served.env = { SERVE_HOSTNAME: NAME };
  await served.start(...ONCE_A_YEAR);
  await served.event("run-ended");
  const port = await freeTcpPort();
  const file = (name: string): string => join(served.folder, name);
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${NAME}`];
  execFileSync("openssl", [...words, "-keyout", file("key"), "-out", file("crt")], {
    stdio: "ignore",
  });
  const shipped = readFileSync(
    join(import.meta.dirname, "../../deploy/nginx/rules-compiler.conf"),
    "utf8",
  );
  const config = shipped
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace("127.0.0.1:5000", `127.0.0.1:${served.port}`)
    .replace(/\/etc\/ssl\/.*\.(key|crt)/g, (_, end: string) => file(end));
  await nginx(context, served, config, port);
  const at = { protocol: "https:", port, headers: { host: NAME } };
  const list = readFileSync(file("rules/my-list.txt"));
  for (let time = 0; time < 30; time++)
    assert.deepEqual((await ask({ ...at, path: "/rules/my-list.txt" })).body, list);
  assert.equal((await ask({ ...at, path: "/" })).status, 200);
  assert.equal((await ask({ ...at, path: "/health", method: "HEAD" })).status, 200);
  const headers = { ...at.headers, ...served.authorization };
  assert.equal((await ask({ ...at, path: "/hold", method: "POST", headers })).status, 403);
  await served.stop();
});
