import { createHash, createHmac } from "node:crypto";
import type { Secret } from "../host/secret.ts";

/** The keys of a store, from the environment. */
export interface StoreKeys {
  readonly id: string;
  readonly secret: Secret;
  readonly token?: Secret | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Its path must be encoded as `encodedPath` does. */
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body. */
  readonly sha256: string;
}

/** SHA-256 of nothing. */
export const EMPTY_SHA256: string = createHash("sha256").digest("hex");

/**
 * The headers of a request to an S3-compatible store with its signature, version 4. All headers are signed.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function signedHeaders(
  { method, url, headers, sha256 }: UnsignedRequest,
  keys: StoreKeys,
  region: string,
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const token = keys.token && { "x-amz-security-token": keys.token.reveal() };
  const own = { ...headers, ...token, "x-amz-content-sha256": sha256, "x-amz-date": time };
  const signed = Object.entries({ ...own, host: url.host }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}\n`);
  const query = url.search.slice(1);
  const canonical = [method, url.pathname, query, lines.join(""), names, sha256].join("\n");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`;
  let key: string | Uint8Array = `AWS4${keys.secret.reveal()}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...own, authorization };
}

/** A path in which all but letters, digits, `-._~` and `/` is encoded. */
export function encodedPath(path: string): string {
  return encodeURIComponent(path)
    .replaceAll("%2F", "/")
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
