import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createPlain } from "node:http";
import { createServer as createSecure } from "node:https";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { runProgram } from "../support/command.ts";

/** Command lines that run a program, separated by line feeds; this runtime alone without it. */
const RUNTIMES = (process.env["TEST_RUNTIMES"] ?? process.execPath).trim().split("\n");
const USER = "someone";
const PASSWORD = "hunter22";

const folder = mkdtempSync(join(tmpdir(), "proxies-"));
// Squid gives up its rights and writes its logs as somebody else.
chmodSync(folder, 0o777);
const started: ChildProcess[] = [];
const ports: Record<string, number> = {};
const certificate = join(folder, "cert.pem");

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilListening(port: number, what: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
    if (isUp) return;
    await new Promise((waited) => setTimeout(waited, 50));
  }
  assert.fail(`${what} does not listen`);
}

function start(command: string, args: readonly string[]): void {
  started.push(spawn(command, args, { stdio: "ignore" }));
}

async function startSquid(name: string, auth: string): Promise<void> {
  const port = (ports[name] = await freePort());
  const file = join(folder, `${name}.conf`);
  writeFileSync(
    file,
    `http_port 127.0.0.1:${port}
${auth}
http_access allow all
access_log stdio:${join(folder, `${name}.log`)}
cache_log ${join(folder, `${name}.cache.log`)}
pid_filename none
cache deny all
shutdown_lifetime 0 seconds
`,
  );
  start("squid", ["-N", "-f", file]);
  await untilListening(port, name);
}

async function startTinyproxy(name: string, auth: string): Promise<void> {
  const port = (ports[name] = await freePort());
  const file = join(folder, `${name}.conf`);
  writeFileSync(
    file,
    `Port ${port}
Listen 127.0.0.1
Timeout 30
LogFile "${join(folder, `${name}.log`)}"
LogLevel Connect
MaxClients 50
Allow 127.0.0.1
ConnectPort ${ports["https"]}
${auth}
`,
  );
  start("tinyproxy", ["-d", "-c", file]);
  await untilListening(port, name);
}

function openssl(words: string): void {
  const made = spawnSync("openssl", words.split(" "), { cwd: folder });
  assert.equal(made.status, 0, String(made.stderr));
}

before(async () => {
  const key = join(folder, "key.pem");
  const leaf = join(folder, "leaf.pem");
  // A server whose certificate is its own authority is not believed by every runtime.
  openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Test -keyout ca.key -out cert.pem");
  openssl("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out leaf.csr");
  writeFileSync(join(folder, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  openssl(
    "x509 -req -in leaf.csr -CA cert.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out leaf.pem",
  );
  const list = "||proxied.example^\n";
  const plain = createPlain((_, response) => response.end(list));
  const secure = createSecure({ key: readFileSync(key), cert: readFileSync(leaf) }, (_, response) =>
    response.end(list),
  );
  for (const [name, server] of [
    ["http", plain],
    ["https", secure],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ports[name] = (server.address() as AddressInfo).port;
    server.unref();
  }
  const hash = spawnSync("openssl", ["passwd", "-apr1", PASSWORD], { encoding: "utf8" }).stdout;
  const passwords = join(folder, "passwords");
  writeFileSync(passwords, `${USER}:${hash}`, { mode: 0o644 });
  const helper = "/usr/lib/squid/basic_ncsa_auth";
  await startSquid("squid", "");
  await startSquid(
    "squid-auth",
    `auth_param basic program ${helper} ${passwords}\nacl known proxy_auth REQUIRED\nhttp_access deny !known`,
  );
  await startTinyproxy("tinyproxy", "");
  await startTinyproxy("tinyproxy-auth", `BasicAuth ${USER} ${PASSWORD}`);
});

after(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Compiles a list through a proxy with one of the runtimes. */
async function compileThrough(
  runtime: string,
  target: "http" | "https",
  env: Record<string, string>,
): Promise<{ exit: number | string; said: string; list: string }> {
  const source = `${target}://127.0.0.1:${ports[target]}/l.txt`;
  const config = join(folder, "c.json");
  const sources = [{ source, name: "s", type: "adblock", allow_private: true }];
  writeFileSync(config, JSON.stringify({ name: "n", sources }));
  const known = { NODE_EXTRA_CA_CERTS: certificate, DENO_CERT: certificate };
  const options = { env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...known, ...env } };
  const args = ["-c", config, "-o", "-", "--no-cache"];
  const { exit, stdout: list, stderr: said } = await runProgram(args, options, runtime);
  return { exit, said, list };
}

function logOf(proxy: string): string {
  const file = join(folder, `${proxy}.log`);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** The log of a proxy, which is written some time after a tunnel ends: once it has the entry and grows no more. */
async function settledLog(proxy: string, hasEntry: (log: string) => boolean): Promise<string> {
  let log = logOf(proxy);
  for (let tries = 0; tries < 50; tries++) {
    await new Promise((waited) => setTimeout(waited, 200));
    const later = logOf(proxy);
    if (later === log && hasEntry(log)) break;
    log = later;
  }
  return log;
}

for (const runtime of RUNTIMES) {
  const name = runtime.split("/").slice(-4).join("/");
  // A proxy without a password asks for less; one runtime is enough for it.
  const open = runtime === RUNTIMES[0] ? ["squid", "tinyproxy"] : [];
  for (const proxy of [...open, "squid-auth", "tinyproxy-auth"])
    for (const target of ["http", "https"] as const)
      test(`${name}: ${target} through ${proxy}`, async () => {
        const isGuarded = proxy.endsWith("-auth");
        const variable = target === "http" ? "HTTP_PROXY" : "https_proxy";
        const known = logOf(proxy).length;
        const credentials = isGuarded ? `${USER}:${PASSWORD}@` : "";
        const env = { [variable]: `http://${credentials}127.0.0.1:${ports[proxy]}` };
        const { exit, said, list } = await compileThrough(runtime, target, env);
        assert.equal(exit, 0, said);
        assert.match(list, /\|\|proxied\.example\^/);
        const entry = new RegExp(`127\\.0\\.0\\.1:${ports[target]}`);
        const log = await settledLog(proxy, (text) => entry.test(text.slice(known)));
        assert.match(log.slice(known), entry, "it went through the proxy");
        const excepted = { ...env, NO_PROXY: "127.0.0.0/8" };
        const size = log.length;
        // Deno before 2.9 leaves exceptions to its own fetch, which knows no ranges.
        if (!runtime.includes("2.0.0")) {
          assert.equal((await compileThrough(runtime, target, excepted)).exit, 0);
          assert.equal(logOf(proxy).length, size, "it went past the proxy");
        }
      });
  for (const proxy of ["squid-auth", "tinyproxy-auth"])
    for (const target of ["http", "https"] as const)
      test(`${name}: ${target} through ${proxy} with the wrong password`, async () => {
        const variable = target === "http" ? "http_proxy" : "HTTPS_PROXY";
        const env = { [variable]: `http://${USER}:wrong-${PASSWORD}@127.0.0.1:${ports[proxy]}` };
        const { exit, said, list } = await compileThrough(runtime, target, env);
        assert.equal(exit, 4, said);
        assert.match(said, /error\[fetch-failed\]: Failed to fetch http/);
        assert.match(said, /407|credentials|Proxy|proxy/);
        assert.doesNotMatch(said + list, /hunter22/);
      });
}
