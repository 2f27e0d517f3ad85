import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";

/** A pair of keys as minisign writes them. */
export function minisignKeys(): { secret: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const id = Buffer.from("0123456789abcdef", "hex");
  const secret = Buffer.concat([
    Buffer.from("Ed\0\0B2"),
    Buffer.alloc(48),
    id,
    seed,
    raw,
    Buffer.alloc(32),
  ]);
  return {
    secret: `untrusted comment: secret\n${secret.toString("base64")}\n`,
    publicKey: Buffer.concat([Buffer.from("Ed"), id, raw]).toString("base64"),
  };
}
