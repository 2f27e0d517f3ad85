import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { isNear, mayReceiveSecrets } from "../config/hook-problems.ts";
import { type FetchRequest, HostError } from "../host/host.ts";
import { fetchBody } from "../host/fetch-body.ts";
import { proxyFor } from "../host/proxy.ts";
import { HookFailure } from "./hook-failure.ts";
import type { HookSetting } from "./hook-setting.ts";

export interface OutgoingRequest {
  /** It may contain secrets, so no message repeats it. */
  readonly url: string;
  readonly method?: "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | object;
}

const MAX_BYTES = 1024 * 1024;
const CONNECT_MS = 10_000;

/** Sends one request and returns the body of the response. Follows no redirect. Rejects with a `HookFailure`. */
export async function sendRequest(
  request: OutgoingRequest,
  { host, timeoutMs, signal }: HookSetting,
): Promise<string> {
  if (!URL.canParse(request.url)) throw new HookFailure("it is not a valid URL");
  const url = new URL(request.url);
  if (!mayReceiveSecrets(url))
    throw new HookFailure("the URL must be https, without a user name and password");
  const limit = { headersMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
  try {
    const { status, headers, body } = await fetchBody(
      {
        url: url.href,
        method: request.method ?? "POST",
        ...contentOf(request),
        timeouts: { connectMs: Math.min(CONNECT_MS, timeoutMs), ...limit },
        maxBytes: MAX_BYTES,
        onlyPublic: false,
        takesAnyStatus: true,
        // A near server is contacted directly: a proxy would see the secrets.
        proxy: isNear(url.hostname) ? undefined : proxyFor(url, host.env),
        signal,
      },
      host,
    );
    if (status >= 200 && status < 300) return decodeUtf8(body);
    const redirect = status >= 300 && status < 400 && headers["location"] !== undefined;
    const more = redirect ? "; secrets are not sent to the target of a redirect" : "";
    throw new HookFailure(`the response has status ${status}${more}`);
  } catch (error) {
    if (error instanceof HookFailure) throw error;
    // Messages of the system contain the name of the server; those of time limits do not.
    if (error instanceof HostError)
      throw new HookFailure(error.code === "ETIMEDOUT" ? error.message : error.code);
    throw new HookFailure("the proxy settings are invalid");
  }
}

function contentOf({ headers, body }: OutgoingRequest): Pick<FetchRequest, "headers" | "body"> {
  const all = { "user-agent": "rules-compiler", ...headers };
  if (body === undefined) return { headers: all };
  if (typeof body === "string") return { headers: all, body: encodeUtf8(body) };
  return {
    headers: { ...all, "content-type": "application/json" },
    body: encodeUtf8(JSON.stringify(body)),
  };
}
