import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";

/** The account of `swift-store.py`. */
export const KEYS = { id: "test:writer", secret: "writer-secret", region: "test-region" } as const;

/** A real OpenStack Swift with its S3 interface, behind a gate that shows each request before the server gets it. */
export class SwiftStore {
  /** Gets the method and the path of a request. The server gets the request only if it returns true. */
  onRequest: (asked: string) => boolean = () => true;
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
      store.child?.kill("SIGKILL");
      for (const socket of store.sockets) socket.destroy();
      rmSync(store.folder, { recursive: true, force: true });
    });
    await store.run();
    return store;
  }

  private async run(): Promise<void> {
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
    // A client waits for the response before its next request, so that a piece starts with each.
    socket.on("data", (piece) => {
      const asked = /^([A-Z]+ \S+) HTTP\/1\.1\r\n/.exec(String(piece))?.[1];
      if (asked !== undefined && !this.onRequest(asked)) return end();
      server.write(piece);
    });
    server.pipe(socket);
  }
}
