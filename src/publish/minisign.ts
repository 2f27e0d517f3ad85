import { Buffer } from "node:buffer";
import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
} from "node:crypto";

/** Signatures as minisign makes them (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b digest of a file. */

const ALGORITHM = Buffer.from("Ed");
const PREHASHED = Buffer.from("ED");
/** What stands before 32 raw bytes in the DER of an Ed25519 key. */
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex");
/** Algorithms, salt, limits. */
const SECRET_HEAD = 54;

export interface SecretKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

export interface PublicKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** Reads a secret key file; what is wrong with it as a text. */
export function readSecretKey(text: string): SecretKey | string {
  const bytes = Buffer.from(text.split("\n")[1]?.trim() ?? "", "base64");
  if (bytes.length !== 158 || !bytes.subarray(0, 2).equals(ALGORITHM))
    return "it is not a minisign secret key";
  if (bytes[2] !== 0 || bytes[3] !== 0)
    return "it has a password; make one without: minisign -G -W";
  const id = bytes.subarray(SECRET_HEAD, SECRET_HEAD + 8);
  const seed = bytes.subarray(SECRET_HEAD + 8, SECRET_HEAD + 40);
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_DER, seed]),
    format: "der",
    type: "pkcs8",
  });
  return { id, key };
}

/** Reads a public key: the file, or the one line that matters. */
export function readPublicKey(text: string): PublicKey | undefined {
  const line = text.trim().split("\n").at(-1)!.trim();
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== 42 || !bytes.subarray(0, 2).equals(ALGORITHM)) return undefined;
  const key = createPublicKey({
    key: Buffer.concat([PUBLIC_DER, bytes.subarray(10)]),
    format: "der",
    type: "spki",
  });
  return { id: bytes.subarray(2, 10), key };
}

/** The signature file of some bytes. The comment is signed as well. */
export function signatureFile(bytes: Uint8Array, { id, key }: SecretKey, comment: string): string {
  const signature = sign(null, digest(bytes), key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  return [
    "untrusted comment: signature from rules-compiler",
    Buffer.concat([PREHASHED, id, signature]).toString("base64"),
    `trusted comment: ${comment}`,
    global.toString("base64"),
    "",
  ].join("\n");
}

/** Whether a signature file is by this key and of these bytes. */
export function isSigned(bytes: Uint8Array, file: string, { id, key }: PublicKey): boolean {
  const [, line = "", trusted = "", last = ""] = file.split("\n");
  const raw = Buffer.from(line, "base64");
  if (raw.length !== 74 || !raw.subarray(0, 2).equals(PREHASHED)) return false;
  if (!raw.subarray(2, 10).equals(id)) return false;
  const signature = raw.subarray(10);
  const comment = Buffer.from(trusted.replace(/^trusted comment: /, ""));
  return (
    verify(null, digest(bytes), key, signature) &&
    verify(null, Buffer.concat([signature, comment]), key, Buffer.from(last, "base64"))
  );
}

function digest(bytes: Uint8Array): Buffer {
  return createHash("blake2b512").update(bytes).digest();
}
