import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Secret } from "../../src/host/secret.ts";
import { EMPTY_SHA256, encodedPath, signedHeaders } from "../../src/targets/sign-request.ts";

// The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
const KEYS = {
  id: "AKIAIOSFODNN7EXAMPLE",
  secret: new Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
};
const HOST = "https://examplebucket.s3.amazonaws.com";
const NOW = new Date("2013-05-24T00:00:00Z");

function signatureOf(headers: Readonly<Record<string, string>>): string | undefined {
  return /Signature=([0-9a-f]+)$/.exec(headers["authorization"] ?? "")?.[1];
}

test("a GET request has the signature of the documentation", () => {
  const url = new URL(`${HOST}/test.txt`);
  const request = { method: "GET", url, headers: { range: "bytes=0-9" }, sha256: EMPTY_SHA256 };
  const headers = signedHeaders(request, KEYS, "us-east-1", NOW);
  assert.equal(
    signatureOf(headers),
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
});

test("a PUT request with a sign in its path has the signature of the documentation", () => {
  const url = new URL(`${HOST}${encodedPath("/test$file.text")}`);
  const sha256 = createHash("sha256").update("Welcome to Amazon S3.").digest("hex");
  const own = {
    date: "Fri, 24 May 2013 00:00:00 GMT",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
  };
  const headers = signedHeaders(
    { method: "PUT", url, headers: own, sha256 },
    KEYS,
    "us-east-1",
    NOW,
  );
  assert.equal(
    signatureOf(headers),
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
});

test("a session token is sent and signed", () => {
  const url = new URL(`${HOST}/test.txt`);
  const keys = { ...KEYS, token: new Secret("a-token") };
  const request = { method: "GET", url, headers: {}, sha256: EMPTY_SHA256 };
  const headers = signedHeaders(request, keys, "us-east-1", NOW);
  assert.equal(headers["x-amz-security-token"], "a-token");
  assert.match(headers["authorization"] ?? "", /SignedHeaders=[^,]*x-amz-security-token/);
});
