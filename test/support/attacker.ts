/**
 * A hostile client in a process of its own: node attacker.ts pipeline PORT CONNECTIONS REQUESTS,
 * node attacker.ts slow PORT CONNECTIONS ADDRESSES PATH, or node attacker.ts idle|mute PORT RATE ADDRESSES PATH. Prints one
 * line when all connections, or those of the first second, were made once, and goes on until it is killed.
 */
import { type Socket, connect } from "node:net";
import process from "node:process";

const [mode = "", port = "", count = "", more = "", path = "/"] = process.argv.slice(2);
const wanted = Number(count);
let made = 0;

function began(): void {
  if (++made === wanted) process.stdout.write("all made\n");
}

/** Many requests in one write; the answers are never read. */
function pipeline(requests: Buffer): void {
  const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress: "127.0.0.2" });
  socket.pause();
  again(socket, () => pipeline(requests));
  socket.once("connect", () => {
    began();
    socket.write(requests);
  });
}

function connectFrom(index: number): Socket {
  const address = index % Number(more);
  const localAddress = `127.0.${1 + Math.floor(address / 250)}.${1 + (address % 250)}`;
  return connect({ port: Number(port), host: "127.0.0.1", localAddress });
}

/** Asks for nothing, or for a large body of which it reads nothing. */
function waitSilently(index: number): void {
  const socket = connectFrom(index);
  socket.pause();
  socket.on("error", () => {});
  socket.once("connect", () => {
    began();
    if (mode === "mute") socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  });
}

/** Asks for a large body and takes 16 kB of it every 15 s. */
function readSlowly(index: number): void {
  const socket = connectFrom(index);
  again(socket, () => readSlowly(index));
  let left = 16_384;
  socket.once("connect", () => {
    began();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  });
  socket.on("data", (piece: Uint8Array) => {
    left -= piece.length;
    if (left > 0) return;
    socket.pause();
    left = 16_384;
    setTimeout(() => socket.resume(), 15_000);
  });
}

/** A reader who is thrown out comes back, after a moment. */
function again(socket: Socket, attempt: () => void): void {
  socket.on("error", () => {});
  const pause = mode === "slow" ? 1000 : 20;
  socket.once("close", () => setTimeout(attempt, pause * (1 + Math.random())));
}

if (mode === "pipeline") {
  const requests = Buffer.from("GET / HTTP/1.1\r\nHost:a\r\n\r\n".repeat(Number(more)));
  for (let index = 0; index < wanted; index++) pipeline(requests);
} else if (mode === "slow") {
  // Five hundred a second: more at a time would be a flood of connections, which only a firewall can stop.
  let index = 0;
  const rising = setInterval(() => {
    for (let step = 0; step < 10 && index < wanted; step++) readSlowly(index++);
    if (index === wanted) clearInterval(rising);
  }, 20);
} else {
  const start = performance.now();
  let index = 0;
  setInterval(() => {
    const due = ((performance.now() - start) / 1000) * wanted;
    while (index < due) waitSilently(index++);
  }, 5);
}
