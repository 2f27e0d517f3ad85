import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";
import { type DecodedText, decodeText } from "./decode.ts";
import { shownAddress, sourceError } from "./source-error.ts";

const MAX_REDIRECTS = 5;
const TIMEOUTS = { connectMs: 10_000, idleMs: 30_000, totalMs: 120_000 };
/** A list ten times the largest in public use; beyond it something is wrong. */
export const MAX_LIST_BYTES: number = 512 * 1024 * 1024;

export interface FetchedText extends DecodedText {
  /** The address that answered, after redirects: what relative includes are resolved against. */
  readonly url: string;
}

export async function fetchText(
  url: string,
  host: Host,
  signal?: AbortSignal,
): Promise<FetchedText> {
  const shown = shownAddress(url);
  let current = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    if (!URL.canParse(current))
      throw sourceError("fetch-failed", `Failed to fetch ${shown}`, "it is not an address");
    current = new URL(current).href;
    if (!/^https?:\/\//.test(current))
      throw sourceError(
        "fetch-failed",
        `Failed to fetch ${shown}`,
        `${shownAddress(current)} is neither http nor https`,
      );
    const response = await request(current, shown, host, signal);
    if (
      response.status >= 300 &&
      response.status < 400 &&
      response.headers["location"] !== undefined
    ) {
      const target = response.headers["location"];
      const next = URL.canParse(target, current) ? new URL(target, current).href : target;
      if (current.startsWith("https:") && next.startsWith("http:"))
        throw sourceError(
          "fetch-failed",
          `Failed to fetch ${shown}`,
          "it redirects from https to http",
        );
      current = next;
      continue;
    }
    if (response.status !== 200)
      throw sourceError(
        "fetch-failed",
        `Failed to fetch ${shown}`,
        `the server answered with status ${response.status}`,
      );
    const charset = /charset\s*=\s*([^\s;]+)/i.exec(response.headers["content-type"] ?? "")?.[1];
    const encoding = { content: response.headers["content-encoding"], charset };
    return {
      url: current,
      ...(await decodeText(response.body, shown, encoding, MAX_LIST_BYTES)),
    };
  }
  throw sourceError(
    "fetch-failed",
    `Failed to fetch ${shown}`,
    `more than ${MAX_REDIRECTS} redirects`,
  );
}

async function request(url: string, shown: string, host: Host, signal?: AbortSignal) {
  try {
    return await host.fetch({
      url,
      headers: {
        accept: "text/plain, */*;q=0.5",
        "accept-encoding": "gzip, br",
        "user-agent": "rules-compiler",
      },
      timeouts: TIMEOUTS,
      maxBytes: MAX_LIST_BYTES,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "ETIMEDOUT")
      throw sourceError("fetch-timeout", `Connection timeout: ${shown}`, error.message);
    throw sourceError(
      "fetch-failed",
      `Failed to fetch ${shown}`,
      reasonOf(error.code, error.message),
    );
  }
}
