/**
 * A resolver that answers from the published file of a list, for measurements of large lists: `node list-server.ts LIST`. It reads the
 * file anew when it changes, blocks the names of rules `||name^`, and prints its port.
 */
import { createSocket } from "node:dgram";
import { readFileSync, statSync } from "node:fs";
import process from "node:process";
import { answerTo, decoded } from "./dns-server.ts";

const [path = ""] = process.argv.slice(2);
let names = new Set<string>();
let read = -1;

function isBlocked(name: string): boolean {
  const { mtimeMs } = statSync(path);
  if (mtimeMs !== read) {
    const rules = readFileSync(path, "latin1").matchAll(/^\|\|(.*)\^$/gm);
    names = new Set(Array.from(rules, ([, blocked]) => blocked!));
  }
  read = mtimeMs;
  const labels = name.split(".");
  return labels.some((_, at) => names.has(labels.slice(at).join(".")));
}

const socket = createSocket("udp4");
socket.on("message", (asked, { port, address }) => {
  const { name, type } = decoded(asked).questions![0]!;
  const data = isBlocked(name.toLowerCase()) ? "0.0.0.0" : "192.0.2.7";
  const answers = type === "A" ? [{ type, name, ttl: 1, data } as const] : [];
  socket.send(answerTo(asked, { answers }), port, address);
});
socket.bind(0, "127.0.0.1", () => {
  process.stdout.write(`${socket.address().port}\n`);
});
