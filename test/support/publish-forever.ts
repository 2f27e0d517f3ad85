/** Publishes one of two lists after the other, for ever: to be killed. The argument is the list. */
import process from "node:process";
import { nodeHost } from "../../src/host/node.ts";
import { ListFile } from "../../src/publish/list-file.ts";

const [path = ""] = process.argv.slice(2);
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
