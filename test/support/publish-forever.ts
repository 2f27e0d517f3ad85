/** Publishes one of two lists after the other, for ever: to be killed. The argument is the list. */
import { dirname } from "node:path";
import process from "node:process";
import { nodeHost } from "../../src/host/node.ts";
import { FileSet } from "../../src/publish/file-set.ts";
import { ListFile } from "../../src/publish/list-file.ts";

const host = nodeHost();
const [path = ""] = process.argv.slice(2);
for (let round = 0; ; round++) {
  const line = new TextEncoder().encode(`||${round % 2 === 0 ? "even" : "odd"}.example^\n`);
  const file = new ListFile(path, host);
  await file.open();
  for (let count = 0; count < 64; count++) {
    const piece = new Uint8Array(line.length * 500);
    for (let at = 0; at < piece.length; at += line.length) piece.set(line, at);
    file.write(piece);
  }
  const set = new FileSet(path, dirname(path), host);
  await file.stage(set);
  await set.commit();
  await file.close();
  if (round === 0) process.stdout.write("published\n");
}
