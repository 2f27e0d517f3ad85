/** Publishes one of two lists after the other, for ever: to be killed. Arguments: the built program's folder, the list. */
import { join } from "node:path";
import process from "node:process";

const [dist = "", path = ""] = process.argv.slice(2);
type Write = typeof import("../../src/publish/list-file.ts");
type Node = typeof import("../../src/host/node.ts");
const { ListFile } = (await import(join(dist, "publish/list-file.js"))) as Write;
const { nodeHost } = (await import(join(dist, "host/node.js"))) as Node;
for (let round = 0; ; round++) {
  const line = new TextEncoder().encode(`||${round % 2 === 0 ? "even" : "odd"}.example^\n`);
  const file = new ListFile(path, nodeHost());
  await file.open();
  for (let count = 0; count < 64; count++) {
    const piece = new Uint8Array(line.length * 500);
    for (let at = 0; at < piece.length; at += line.length) piece.set(line, at);
    file.write(piece);
  }
  await file.publish();
  await file.close();
  if (round === 0) process.stdout.write("published\n");
}
