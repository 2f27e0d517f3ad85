import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";

/** What a server may do to whoever asks it for a list. Gets the socket after the request's head was read. */
type Misbehaviour = (socket: Socket, path: string) => void;

const OK = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

type Body = string | Uint8Array;

/** Bodies that take time and memory to make: before the server listens, and only there. */
const makers: (() => void)[] = [];

function answer(body: Body | (() => Body), headers = "", status = "200 OK"): Misbehaviour {
  let bytes = new Uint8Array(0);
  const make = (): void => {
    const made = typeof body === "function" ? body() : body;
    bytes = typeof made === "string" ? new TextEncoder().encode(made) : Uint8Array.from(made);
  };
  if (typeof body === "function") makers.push(make);
  else make();
  return (socket) => {
    socket.write(`HTTP/1.1 ${status}\r\n${headers}content-length: ${bytes.length}\r\n\r\n`);
    socket.end(bytes);
  };
}

/** Writes the same again and again until nobody listens. */
function endlessly(head: string, piece: string | Uint8Array, everyMs = 0): Misbehaviour {
  return (socket) => {
    socket.write(head);
    const next = (): void => {
      if (socket.destroyed) return;
      if (everyMs > 0) {
        socket.write(piece);
        setTimeout(next, everyMs);
      } else if (socket.write(piece)) setImmediate(next);
      else socket.once("drain", next);
    };
    next();
  };
}

function gzipBomb(megabytes: number): Uint8Array {
  return gzipSync(new Uint8Array(megabytes << 20).fill(97), { level: 9 });
}

const LIST = Array.from({ length: 500 }, (_, index) => `||cut${index}.example^\n`).join("");
const GZIP = gzipSync(LIST);
const page = "<!DOCTYPE html>\n<html><body>Please log in</body></html>\n";

export const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  "closes at once": (socket) => socket.end(),
  "resets at once": (socket) => socket.resetAndDestroy(),
  "never answers": () => {},
  "sends half a status line": (socket) => socket.write("HTTP/1.1 2"),
  "sends headers byte by byte": endlessly("HTTP/1.1 200 OK\r\nx: ", "y", 20),
  "never ends its headers": endlessly("HTTP/1.1 200 OK\r\nx: ", "y".repeat(4096)),
  "sends a million headers": endlessly("HTTP/1.1 200 OK\r\n", "x: y\r\n".repeat(500)),
  "says 100 for ever": endlessly("", "HTTP/1.1 100 Continue\r\n\r\n", 10),
  "says 103 for ever": endlessly("", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", 10),
  "stops after the headers": (socket) => socket.write(`${OK}content-length: 100\r\n\r\n`),
  "stops in the middle": (socket) => socket.write(`${OK}content-length: 9999\r\n\r\n${LIST}`),
  "sends the body byte by byte": endlessly(`${OK}content-length: 9999999\r\n\r\n`, "a", 20),
  "sends chunks byte by byte": endlessly(
    `${OK}transfer-encoding: chunked\r\n\r\n`,
    "1\r\na\r\n",
    20,
  ),
  "cuts the body": (socket) => socket.end(`${OK}content-length: 99999\r\n\r\n${LIST}`),
  "cuts the body by a reset": (socket) => {
    socket.write(`${OK}content-length: 99999\r\n\r\n${LIST}`);
    setTimeout(() => socket.resetAndDestroy(), 20);
  },
  "cuts a chunk": (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\nff\r\n||cut`),
  "leaves out the last chunk": (socket) =>
    socket.end(`${OK}transfer-encoding: chunked\r\n\r\n7\r\n||a.b^\n\r\n`),
  "lies about a chunk": (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n||a`),
  "has two lengths": (socket) =>
    socket.end(`${OK}content-length: 5\r\ncontent-length: 6\r\n\r\n||a.b^`),
  "has a negative length": (socket) => socket.end(`${OK}content-length: -1\r\n\r\n||a.b^`),
  "cuts gzip": answer(GZIP.subarray(0, -20), "content-encoding: gzip\r\n"),
  "breaks gzip": answer(
    GZIP.map((byte, index) => (index === 40 ? byte ^ 255 : byte)),
    "content-encoding: gzip\r\n",
  ),
  "calls plain text gzip": answer(LIST, "content-encoding: gzip\r\n"),
  "sends a gzip bomb": answer(() => gzipBomb(200), "content-encoding: gzip\r\n"),
  "sends a gzip bomb as a file": answer(() => gzipBomb(200)),
  "sends a bomb in a bomb": answer(
    () => gzipSync(gzipBomb(400)),
    "content-encoding: gzip, gzip\r\n",
  ),
  "sends a brotli bomb": answer(
    () => brotliCompressSync(new Uint8Array(100 << 20).fill(97)),
    "content-encoding: br\r\n",
  ),
  "packs too many times": answer(GZIP, "content-encoding: gzip, gzip, gzip\r\n"),
  "has an unknown encoding": answer(LIST, "content-encoding: rot13\r\n"),
  "sends for ever": endlessly(`${OK}\r\n`, "||endless.example^\n".repeat(3000)),
  "sends chunks for ever": endlessly(
    `${OK}transfer-encoding: chunked\r\n\r\n`,
    `8000\r\n${"||x.example^\n".repeat(2521).slice(0, 0x8000)}\r\n`,
  ),
  "speaks something else": (socket) => socket.end("220 mail.example ESMTP\r\n\r\n"),
  "speaks TLS": (socket) => socket.end(Uint8Array.from([21, 3, 1, 0, 2, 2, 70])),
  "speaks HTTP/2": (socket) => socket.end(Uint8Array.from([0, 0, 0, 4, 0, 0, 0, 0, 0])),
  "has no such status": (socket) => socket.end("HTTP/1.1 999 Strange\r\ncontent-length: 0\r\n\r\n"),
  "says 204": (socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"),
  "says 206": answer(LIST, "content-range: bytes 0-99/9999\r\n", "206 Partial Content"),
  "says 304 unasked": (socket) => socket.end("HTTP/1.1 304 Not Modified\r\n\r\n"),
  "says 401": answer("no", 'www-authenticate: Basic realm="x"\r\n', "401 Unauthorized"),
  "says 403": answer("no", "", "403 Forbidden"),
  "says 404": answer("no", "", "404 Not Found"),
  "says 410": answer("gone", "", "410 Gone"),
  "says 429 for a day": answer("", "retry-after: 86400\r\n", "429 Too Many Requests"),
  "says 500": answer("", "", "500 Internal Server Error"),
  "says 503 for ever": answer("", "retry-after: 0\r\n", "503 Service Unavailable"),
  "redirects nowhere": answer("", "", "302 Found"),
  "redirects to itself": (socket, path) =>
    answer("", `location: ${path}\r\n`, "302 Found")(socket, path),
  "redirects in circles": (socket, path) =>
    answer("", `location: ${path}x\r\n`, "302 Found")(socket, path),
  "redirects to a file": answer("", "location: file:///etc/passwd\r\n", "302 Found"),
  "redirects to a script": answer("", "location: javascript:alert(1)\r\n", "302 Found"),
  "redirects to no address": answer("", "location: http://\r\n", "302 Found"),
  "redirects to a closed port": answer("", "location: http://127.0.0.1:1/\r\n", "302 Found"),
  "is empty": answer(""),
  "is blank": answer("\n \t\r\n\n"),
  "is a login page": answer(page, "content-type: text/html\r\n"),
  "is a login page called text": answer(page),
  "is a picture": answer(Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13])),
  "is UTF-16 without saying so": answer(
    Uint8Array.from([...LIST].flatMap((letter) => [letter.charCodeAt(0), 0])),
  ),
  "is not what its charset says": answer(
    Uint8Array.from([255, 254, 253]),
    "content-type: text/plain; charset=utf-16be\r\n",
  ),
  "includes itself": (socket, path) =>
    answer(`!#include ${path.slice(path.lastIndexOf("/") + 1)}\n`)(socket, path),
  "includes two of itself for ever": (socket, path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    answer(`!#include ${name}a\n!#include ${name}b\n`)(socket, path);
  },
  "includes what is not there": (socket, path) =>
    path.endsWith("-gone")
      ? answer("", "", "404 Not Found")(socket, path)
      : answer(`!#include ${path.slice(path.lastIndexOf("/") + 1)}-gone\n`)(socket, path),
  "includes another server": answer("!#include http://127.0.0.2/x\n"),
  "includes a file": answer("!#include file:///etc/passwd\n"),
  "does not close a condition": answer(`!#if adguard\n${LIST}`),
  "nests twenty thousand brackets": answer(`!#if ${"(".repeat(20_000)}x${")".repeat(20_000)}\n`),
};

const names = Object.keys(MISBEHAVIOURS);

/** Address of a list that the server serves badly. */
export function hostileUrl(base: string, misbehaviour: string): string {
  return `${base}/bad/${names.indexOf(misbehaviour)}/l`;
}

/** Address of a good list with this one name in it. */
export function goodUrl(base: string, name: string): string {
  return `${base}/good/${name}`;
}

/** Listens on the loopback. */
export async function hostileServer(): Promise<{ base: string; close(): void }> {
  for (const make of makers) make();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let head = "";
    socket.on("data", (data) => {
      if (head.includes("\r\n\r\n")) return;
      head += String(data);
      if (!head.includes("\r\n\r\n")) return;
      const [path = ""] = (head.split(" ")[1] ?? "").split("?");
      const good = /^\/good\/(?<name>.+)$/.exec(path)?.groups?.["name"];
      if (good !== undefined) answer(`||${good}^\n`)(socket, path);
      else MISBEHAVIOURS[names[Number(path.split("/")[2])] ?? ""]?.(socket, path);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
