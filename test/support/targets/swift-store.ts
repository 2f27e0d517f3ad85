import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { Secret } from "../../../src/host/secret.ts";
import { EMPTY_SHA256, signedHeaders } from "../../../src/targets/sign-request.ts";

export const KEYS = {
  AWS_ACCESS_KEY_ID: "test:writer",
  AWS_SECRET_ACCESS_KEY: "writer-secret",
} as const;
export const REGION = "test-region";

/** What a client asked for: the method and the path. */
type Asked = string;

/**
 * A real OpenStack Swift with its S3 interface, behind a gate that logs requests and can stop the server before one of them. The
 * address stays when the server is started again.
 */
export class SwiftStore {
  readonly asked: Asked[] = [];
  /** The server is killed before it gets a request that matches. */
  stopBefore: RegExp | undefined;
  endpoint = "";
  /** Not in memory: its files have extended attributes. */
  private readonly folder = mkdtempSync("/var/tmp/swift-");
  private child: ChildProcess | undefined;
  private port = 0;
  private readonly sockets = new Set<Socket>();

  static async start(context: TestContext): Promise<SwiftStore> {
    const store = new SwiftStore();
    const gate = createServer((socket) => store.pass(socket));
    await new Promise<void>((listening) => gate.listen(0, "127.0.0.1", listening));
    store.endpoint = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
    context.after(() => {
      gate.close();
      store.stop();
      rmSync(store.folder, { recursive: true, force: true });
    });
    await store.run();
    return store;
  }

  /** Starts the server, again with the same objects. */
  async run(): Promise<void> {
    const script = join(import.meta.dirname, "swift-store.py");
    const env = { PATH: process.env["PATH"], PYTHONWARNINGS: "ignore" };
    const child = spawn("/usr/bin/python3", [script, this.folder], { env });
    this.child = child;
    let problems = "";
    child.stderr.on("data", (piece: Uint8Array) => (problems += String(piece)));
    this.port = await new Promise<number>((resolve, reject) => {
      child.stdout.once("data", (line: Uint8Array) => resolve(Number(String(line))));
      child.once("close", () => reject(new Error(`Swift ended: ${problems}`)));
    });
  }

  stop(): void {
    this.child?.kill("SIGKILL");
    for (const socket of this.sockets) socket.destroy();
  }

  /** Sends a signed request without a body, past the gate's log. */
  async request(
    method: "GET" | "HEAD" | "PUT",
    path: string,
  ): Promise<{ status: number; headers: Headers; text: string }> {
    const url = new URL(`http://127.0.0.1:${this.port}${path}`);
    const keys = { id: KEYS.AWS_ACCESS_KEY_ID, secret: new Secret(KEYS.AWS_SECRET_ACCESS_KEY) };
    const unsigned = { method, url, headers: {}, sha256: EMPTY_SHA256 };
    const headers = signedHeaders(unsigned, keys, REGION, new Date());
    const response = await fetch(url, { method, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** What clients sent, as paths. */
  puts(): string[] {
    return this.asked.filter((one) => one.startsWith("PUT ")).map((one) => one.slice(4));
  }

  private pass(socket: Socket): void {
    this.sockets.add(socket);
    const server = connect(this.port, "127.0.0.1");
    const end = (): void => {
      socket.destroy();
      server.destroy();
      this.sockets.delete(socket);
    };
    for (const one of [socket, server]) one.on("error", end);
    for (const one of [socket, server]) one.on("close", end);
    // Each connection has one request, so its first line is in the first piece.
    socket.once("data", (piece) => {
      const asked = /^\S+ \S+/.exec(String(piece))?.[0] ?? "";
      this.asked.push(asked);
      if (this.stopBefore?.test(asked) === true) return this.stop();
      server.write(piece);
      socket.pipe(server);
    });
    server.pipe(socket);
  }
}
