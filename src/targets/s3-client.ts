import { decodeUtf8 } from "../bytes/utf8.ts";
import type { TargetConfig } from "../config/config.ts";
import { isNear } from "../config/hook-problems.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { fetchBody } from "../host/fetch-body.ts";
import { type FetchRequest, HostError } from "../host/host.ts";
import { proxyFor } from "../host/proxy.ts";
import { EMPTY_SHA256, type StoreKeys, encodedPath, signedHeaders } from "./sign-request.ts";
import type { TargetSetting } from "./target.ts";
import { TargetFailure } from "./target-failure.ts";

export interface StoreRequest {
  readonly method: "HEAD" | "PUT" | "DELETE";
  /** Below the prefix. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** SHA-256 of the body, and how to read it. */
  readonly sha256?: string;
  readonly body?: () => AsyncIterable<Uint8Array>;
}

export interface StoreResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The code and message of an error; empty for HEAD, which has no body. */
  readonly code: string;
  readonly message: string;
  /** Whether the request was repeated: the store may have done it the first time. */
  readonly isRepeated: boolean;
}

const MAX_BYTES = 64 * 1024;
const CONNECT_MS = 10_000;
/** Waits before a request is repeated. */
const PAUSES_MS = [300, 1500];
const BUSY = new Set([429, 500, 502, 503, 504]);
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT"]);

/** Requests to one bucket of an S3-compatible store. */
export class S3Client {
  private readonly config: NonNullable<TargetConfig["s3"]>;
  private readonly keys: StoreKeys;
  private readonly setting: TargetSetting;
  private readonly until: number;

  constructor(config: NonNullable<TargetConfig["s3"]>, keys: StoreKeys, setting: TargetSetting) {
    this.config = config;
    this.keys = keys;
    this.setting = setting;
    this.until = setting.host.now().getTime() + setting.timeoutMs;
  }

  /** Sends a request, again if the store is busy. Rejects with a `TargetFailure` if there is no response. */
  async send(request: StoreRequest): Promise<StoreResponse> {
    const { host, signal } = this.setting;
    for (let attempt = 0; ; attempt++) {
      const pause = PAUSES_MS[attempt];
      try {
        const response = await this.once(request);
        if (pause === undefined || !BUSY.has(response.status))
          return { ...response, isRepeated: attempt > 0 };
      } catch (error) {
        if (signal.aborted) throw new TargetFailure("stopped");
        if (error instanceof CompilerError)
          throw new TargetFailure("the proxy settings are invalid");
        if (!(error instanceof HostError)) throw error;
        if (pause === undefined || !BROKEN.has(error.code)) throw unreachable(error);
      }
      await host.wait(pause, signal);
    }
  }

  private async once({
    method,
    name,
    headers = {},
    sha256 = EMPTY_SHA256,
    body,
  }: StoreRequest): Promise<Omit<StoreResponse, "isRepeated">> {
    const { host, signal } = this.setting;
    const leftMs = this.until - host.now().getTime();
    if (leftMs <= 0) throw this.late();
    const url = objectUrl(this.config, name);
    const region = this.config.region ?? "us-east-1";
    const signed = signedHeaders({ method, url, headers, sha256 }, this.keys, region, host.now());
    const request: Omit<FetchRequest, "take"> = {
      url: url.href,
      method,
      headers: { ...signed, "user-agent": "rules-compiler" },
      ...(body && { body: body() }),
      timeouts: {
        connectMs: Math.min(CONNECT_MS, leftMs),
        headersMs: leftMs,
        idleMs: leftMs,
        totalMs: leftMs,
      },
      maxBytes: MAX_BYTES,
      onlyPublic: false,
      takesAnyStatus: true,
      // A near server is contacted directly.
      proxy: isNear(url.hostname) ? undefined : proxyFor(url, host.env),
      signal,
    };
    const response = await fetchBody(request, host);
    const text = decodeUtf8(response.body);
    return { ...response, code: elementOf(text, "Code"), message: elementOf(text, "Message") };
  }

  private late(): TargetFailure {
    const seconds = this.setting.timeoutMs / 1000;
    return new TargetFailure(`the store took longer than ${seconds} s`, "Set a longer timeout");
  }
}

/** The address of an object. */
export function objectUrl(config: NonNullable<TargetConfig["s3"]>, name: string): URL {
  const { endpoint, bucket, prefix = "", path_style: isPath = true } = config;
  const key = [...prefix.split("/"), name].filter((part) => part !== "").join("/");
  const url = new URL(endpoint);
  if (!isPath) url.hostname = `${bucket}.${url.hostname}`;
  // As the file system does it: a name may have half a character.
  url.pathname = encodedPath((isPath ? `/${bucket}/${key}` : `/${key}`).toWellFormed());
  return url;
}

function unreachable({ code, message }: HostError): TargetFailure {
  const what = code === "ETIMEDOUT" ? message : printable(code, 40);
  return new TargetFailure(
    `the store cannot be reached: ${what}`,
    "Check endpoint and the network",
  );
}

/** The text of an element of an error, safe to print. */
function elementOf(text: string, name: string): string {
  const found = new RegExp(`<${name}>([^<]{0,400})</${name}>`).exec(text)?.[1] ?? "";
  return printable(found.trim(), 200);
}
