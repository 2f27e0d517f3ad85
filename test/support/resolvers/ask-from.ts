import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 60_000;

/** Asks from the address of a client, and tells whether each name is blocked. */
export async function askFrom(
  address: string,
  port: number,
  names: readonly string[],
): Promise<boolean[]> {
  const socket = createSocket("udp4");
  await new Promise<void>((bound) => socket.bind(0, address, bound));
  const answers = new Map<number, boolean>();
  socket.on("message", (answer) => {
    const isPassed = answer.readUInt16BE(6) > 0 && answer.includes(Buffer.from([192, 0, 2, 80]));
    if ((answer[3]! & 15) !== 2) answers.set(answer.readUInt16BE(0), !isPassed);
  });
  const began = Date.now();
  while (answers.size < names.length) {
    assert.ok(Date.now() - began < PATIENCE_MS, `${answers.size} of ${names.length} answers`);
    for (const [id, name] of names.entries())
      if (!answers.has(id)) socket.send(question(id, name), port, "127.0.0.1");
    for (let wait = 0; wait < 20 && answers.size < names.length; wait++) await sleep(50);
  }
  socket.close();
  return names.map((_, id) => answers.get(id)!);
}

function question(id: number, name: string): Uint8Array {
  const labels = name
    .split(".")
    .flatMap((label) => [label.length, ...new TextEncoder().encode(label)]);
  return Uint8Array.of(id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1);
}
