import { Buffer } from "node:buffer";
import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
} from "node:crypto";

/** Signatures in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b digest of a file. */

const ALGORITHM = Buffer.from("Ed");
const PREHASHED = Buffer.from("ED");
/** The DER prefixes of the 32 raw bytes of an Ed25519 key. */
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex");
/** Algorithms, salt and limits. */
const SECRET_HEADER_BYTES = 54;

export interface MinisignKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** Reads a secret key file; returns a text if it is invalid. */
export function readSecretKey(text: string): MinisignKey | string {
  const bytes = Buffer.from(text.split("\n")[1]?.trim() ?? "", "base64");
  if (bytes.length !== 158 || !bytes.subarray(0, 2).equals(ALGORITHM))
    return "it is not a minisign secret key";
  if (bytes[2] !== 0 || bytes[3] !== 0)
    return "it has a password; create one without: minisign -G -W";
  const id = bytes.subarray(SECRET_HEADER_BYTES, SECRET_HEADER_BYTES + 8);
  const seed = bytes.subarray(SECRET_HEADER_BYTES + 8, SECRET_HEADER_BYTES + 40);
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_DER, seed]),
    format: "der",
    type: "pkcs8",
  });
  return { id, key };
}

/** Reads a public key: the whole file, or its last line. */
export function readPublicKey(text: string): MinisignKey | undefined {
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

/** Creates a signature file. The signature includes the comment. */
export function signatureFile(
  bytes: Uint8Array,
  { id, key }: MinisignKey,
  comment: string,
): string {
  const signature = sign(null, blake2b([bytes]), key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  return [
    "untrusted comment: signature from rules-compiler",
    Buffer.concat([PREHASHED, id, signature]).toString("base64"),
    `trusted comment: ${comment}`,
    global.toString("base64"),
    "",
  ].join("\n");
}

/** Why a signature file does not show that the owner of one of the keys signed these bytes; undefined if it does. */
export function signatureProblem(
  pieces: Iterable<Uint8Array>,
  file: string,
  keys: readonly MinisignKey[],
): string | undefined {
  const [, line = "", trusted = "", last = ""] = file.split(/\r?\n/);
  const raw = Buffer.from(line, "base64");
  const algorithm = raw.subarray(0, 2);
  if (raw.length !== 74) return "the signature is not one of minisign";
  if (algorithm.equals(ALGORITHM))
    return "the signature is in the old form, without a digest; minisign -S -H writes the new one";
  if (!algorithm.equals(PREHASHED)) return "the signature is not one of minisign";
  const own = keys.filter(({ id }) => raw.subarray(2, 10).equals(id));
  if (own.length === 0) return "another key signed it";
  const signature = raw.subarray(10);
  const comment = Buffer.from(trusted.replace(/^trusted comment: /, ""));
  const global = Buffer.concat([signature, comment]);
  const digest = blake2b(pieces);
  const isSigned = own.some(
    ({ key }) =>
      verify(null, digest, key, signature) &&
      verify(null, global, key, Buffer.from(last, "base64")),
  );
  return isSigned ? undefined : "its bytes are not those that were signed";
}

function blake2b(pieces: Iterable<Uint8Array>): Buffer {
  const hash = createHash("blake2b512");
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
