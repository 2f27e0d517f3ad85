import { createHash } from "node:crypto";
import { PATCH_FOLDER } from "../publish/patches.ts";
import { PAGE_STYLE } from "../pages/page-style.ts";
import type { WebReply, WebRequest } from "../host/host.ts";
import { answerList } from "./answer-list.ts";
import type { Health } from "./health.ts";
import type { ListVersion } from "./list-version.ts";

/** What the routes need from the server. */
export interface RouteContext {
  health(): Health;
  metrics(): string | Uint8Array;
  page(): string | Uint8Array;
  list(name: string): ListVersion | undefined;
  /** A difference between two versions of a list. */
  patch(name: string): ListVersion | undefined;
  /** The report of the last build of a list, by its file name without extension; `""` selects the only list. */
  report(list: string): ListVersion | undefined;
  /** Starts a run, or queues one behind the current run. */
  compile(): "started" | "queued";
}

const STYLE_HASH = createHash("sha256").update(PAGE_STYLE).digest("base64");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** The response to a request, and the name of its route for the metrics. */
export function route(
  request: WebRequest,
  context: RouteContext,
): { name: string; reply: WebReply } {
  const path = request.target.split("?")[0]!;
  if (path === "/compile") return { name: "compile", reply: compileReply(request, context) };
  const folder = FOLDERS.find((one) => path.startsWith(`/${one}/`));
  const name = folder ?? NAMES[path] ?? "other";
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead && name !== "other") {
    const headers = { allow: "GET, HEAD" };
    return { name, reply: textReply(405, "Use GET or HEAD\n", headers) };
  }
  return { name, reply: readReply(name, path, request, context) };
}

/** Routes that are followed by the name of a list. */
const FOLDERS = ["rules", "report"] as const;

const NAMES: Readonly<Record<string, string>> = {
  "/": "page",
  "/health": "health",
  "/metrics": "metrics",
  "/report": "report",
};

function readReply(
  name: string,
  path: string,
  request: WebRequest,
  context: RouteContext,
): WebReply {
  if (name === "health") {
    const health = context.health();
    return jsonReply(health.isHealthy ? 200 : 503, health);
  }
  if (name === "metrics")
    return {
      ...textReply(200, context.metrics()),
      headers: {
        "content-type": "text/plain; version=0.0.4; charset=utf-8",
        "cache-control": "no-store",
      },
    };
  if (name === "page") return { status: 200, headers: PAGE_HEADERS, body: context.page() };
  const report = name === "report" ? context.report(listInPath(path)) : undefined;
  if (report !== undefined) return reportReply(answerList(request, report));
  const version = name === "rules" ? versionAt(listInPath(path), context) : undefined;
  if (version !== undefined) return answerList(request, version);
  return textReply(404, "Not found. Available: /, /report, /health, /metrics, /rules/<file>\n");
}

/** The page contains its own content security policy, with hashes of its script and style. Only a header can forbid framing. */
function reportReply(reply: WebReply): WebReply {
  return {
    ...reply,
    headers: {
      ...reply.headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
    },
  };
}

function versionAt(name: string, context: RouteContext): ListVersion | undefined {
  const patch = `${PATCH_FOLDER}/`;
  return name.startsWith(patch) ? context.patch(name.slice(patch.length)) : context.list(name);
}

function listInPath(path: string): string {
  try {
    return decodeURIComponent(path.replace(/^\/[a-z]+\/?/, ""));
  } catch {
    return "";
  }
}

/** Only local processes may start a run: no proxies, and no pages in a browser. */
function compileReply(request: WebRequest, context: RouteContext): WebReply {
  const { headers, method, address } = request;
  if (method !== "POST") return textReply(405, "Use POST to start a run\n", { allow: "POST" });
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined);
  const isPage = headers["origin"] !== undefined || headers["sec-fetch-site"] !== undefined;
  if (isForwarded || isPage || !isLoopback(address) || !isLocalName(headers["host"] ?? ""))
    return textReply(
      403,
      "Only local processes may start a run, not through a proxy or a browser\n",
    );
  return jsonReply(202, { state: context.compile() });
}

const FORWARDED = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"] as const;

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, "");
  return plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** Against DNS rebinding: any other name may be made to resolve to this machine. */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || isLoopback(name);
}

function textReply(
  status: number,
  body: WebReply["body"],
  more: Record<string, string> = {},
): WebReply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...more },
    body,
  };
}

function jsonReply(status: number, value: object): WebReply {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
    body: `${JSON.stringify(value, undefined, 2)}\n`,
  };
}
