import { PATCH_FOLDER } from "../library/programs.ts";
import type { Health } from "../documents/facts.ts";
import type { WebReply, WebRequest } from "../host/host.ts";
import { Actions, type ActionsOptions } from "./actions.ts";
import {
  ACTIONS,
  type Action,
  type ActionRequest,
  type BearerToken,
  isKnownHost,
  jsonReply,
  pageReply,
  parametersOf,
  refusalOf,
  textReply,
} from "./requests.ts";
import type { Runner } from "./runs.ts";
import { type ListVersion, answerList } from "./served-lists.ts";
import { WhyAnswers, type WhyOptions, whyReply } from "./why.ts";

/** What the routes need from the server. */
export interface RouteContext {
  health(): Health;
  metrics(): string | Uint8Array;
  page(): string | Uint8Array;
  list(name: string): ListVersion | undefined | Promise<ListVersion | undefined>;
  /** A difference between two versions of a list. */
  patch(name: string): ListVersion | undefined | Promise<ListVersion | undefined>;
  /** The report of the last build of a list, by its file name without extension; `""` selects the only list. */
  report(list: string): ListVersion | undefined;
  /** Starts a run, or queues one behind the current run. */
  compile(): "started" | "queued";
  /** Publishes an earlier build, holds a list or releases it. */
  act(request: ActionRequest): Promise<WebReply>;
  /** The token that requests to act must have. */
  readonly token: BearerToken;
  /** The host names that the server has in the public DNS. */
  readonly hostNames: readonly string[];
  /** Names of the lists. */
  readonly listNames: readonly string[];
  readonly why: WhyAnswers;
}

/** The response to a request, and the name of its route for the metrics. */
export function route(
  request: WebRequest,
  context: RouteContext,
): { name: string; reply: WebReply | Promise<WebReply> } {
  const path = request.target.split("?")[0]!;
  const action = ACTIONS.find((one) => path === `/${one}`);
  if (action !== undefined) return { name: action, reply: actionReply(action, request, context) };
  const folder = FOLDERS.find((one) => path.startsWith(`/${one}/`));
  const name = folder ?? NAMES[path] ?? "other";
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead && name !== "other") {
    const headers = { allow: "GET, HEAD" };
    return { name, reply: textReply(405, "Use GET or HEAD\n", headers) };
  }
  // Lists are public, and resolvers may know this machine by any name.
  const isKnown = name === "rules" || isKnownHost(request.headers["host"], context.hostNames);
  return { name, reply: isKnown ? readReply(name, path, request, context) : UNKNOWN_HOST };
}

const UNKNOWN_HOST = textReply(
  421,
  "This server has another host name. If the name is right, start it with SERVE_HOSTNAME=NAME\n",
);

/** Routes that are followed by the name of a list. */
const FOLDERS = ["rules", "report"] as const;

const NAMES: Readonly<Record<string, string>> = {
  "/": "page",
  "/health": "health",
  "/metrics": "metrics",
  "/report": "report",
  "/why": "why",
};

function readReply(
  name: string,
  path: string,
  request: WebRequest,
  context: RouteContext,
): WebReply | Promise<WebReply> {
  if (name === "why") return whyReply(request, context);
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
  if (name === "page") return pageReply(200, context.page());
  const report = name === "report" ? context.report(listInPath(path)) : undefined;
  if (report !== undefined) return reportReply(answerList(request, report));
  const version = name === "rules" ? versionAt(listInPath(path), context) : undefined;
  // Most are known; awaiting each would cost requests per second.
  if (version instanceof Promise) return version.then((later) => listReply(request, later));
  return listReply(request, version);
}

function listReply(request: WebRequest, version: ListVersion | undefined): WebReply {
  return version === undefined ? NOT_FOUND : answerList(request, version);
}

const NOT_FOUND = textReply(
  404,
  "Not found. Available: /, /report, /health, /metrics, /rules/<file>, /why?name=\n",
);

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

function versionAt(name: string, context: RouteContext): ReturnType<RouteContext["list"]> {
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

function actionReply(
  action: Action,
  request: WebRequest,
  context: RouteContext,
): WebReply | Promise<WebReply> {
  const refusal = refusalOf(request, context.token);
  if (refusal !== undefined) return refusal;
  const holder = context.token.holderIn(request.headers["authorization"]);
  const asked = parametersOf(action, request, context.listNames, holder?.name);
  if (asked === "compile") return jsonReply(202, { state: context.compile() });
  return "status" in asked ? asked : context.act(asked);
}

/** What clients may ask for, besides files. */
export interface RequestSettings {
  /** Names of the lists, ... */
  readonly listNames: readonly string[];
  /** ... and of the resolvers that the configuration names. */
  readonly resolvers: readonly string[];
  /** The token that requests to act must have. */
  readonly token: BearerToken;
  /** The host names that the server has in the public DNS. */
  readonly hostNames: readonly string[];
  readonly act: ActionsOptions["act"];
  readonly why: WhyOptions["answer"];
}

type Parts = Omit<ActionsOptions, "act"> & Pick<WhyOptions, "version">;

/** The parts of the routes that start other processes. */
export function requestContext(
  { listNames, hostNames, resolvers, token, act, why: answer }: RequestSettings,
  { version, ...parts }: Parts,
  runner: () => Runner,
): Pick<RouteContext, "token" | "hostNames" | "listNames" | "why" | "act"> {
  const { host, log, signal } = parts;
  const onError = (error: unknown): void =>
    log.write("error", "not-answered", { reason: (error as Error).message });
  const actions = new Actions({ ...parts, act });
  return {
    token,
    hostNames,
    listNames,
    why: new WhyAnswers({ host, signal, resolvers, answer, version, onError }),
    act: async (request) => await actions.answer(request, runner()),
  };
}
