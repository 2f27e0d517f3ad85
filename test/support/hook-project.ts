import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { DiskProject } from "./disk-project.ts";

export const GOOD: readonly string[] = ["||one.example^", "||two.example^", "||three.example^"];
/** A guard refuses it. */
export const BAD: readonly string[] = ["||com^"];

/** A program of JavaScript, as the words of `run`. */
export function script(code: string): string[] {
  return [process.execPath, "-e", code];
}

/** A folder with a list and hooks, in which the real command runs with real children. */
export class HookProject extends DiskProject {
  constructor(context: TestContext, after: unknown, more: object = {}) {
    super(context, { env: { PATH: process.env["PATH"], PLANTED: "planted-variable" } });
    this.lines(GOOD);
    this.hooks(after, more);
  }

  hooks(after: unknown, more: object = {}): void {
    const sources = [{ name: "A", source: "a.txt", type: "adblock" }];
    this.write("c.json", JSON.stringify({ name: "My list", sources, after, ...more }));
  }

  lines(lines: readonly string[]): void {
    writeFileSync(join(this.folder, "a.txt"), `${lines.join("\n")}\n`);
  }

  /** A file as hooks should name it. */
  published(file: string): object {
    const path = join(this.folder, file);
    const bytes = readFileSync(path);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { path, bytes: bytes.length, sha256 };
  }

  has(file: string): boolean {
    return existsSync(join(this.folder, file));
  }

  /** What hooks appended to a file, one JSON document per line. */
  said(file: string): Record<string, unknown>[] {
    if (!this.has(file)) return [];
    const lines = readFileSync(join(this.folder, file), "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Replies {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The server accepts the request and never answers. */
  readonly isSilent?: boolean;
}

/** A real server that keeps what it receives. */
export async function webhook(
  context: TestContext,
  reply: (received: Received) => Replies = () => ({}),
): Promise<{ readonly base: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Uint8Array) => (body += String(piece)));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body };
      received.push(one);
      const { status = 200, headers: more = {}, body: text = "ok", isSilent } = reply(one);
      if (isSilent === true) return;
      response.writeHead(status, more);
      response.end(status === 204 ? undefined : text);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
