import { BUILD } from "../build/state/kept-build.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { WebReply, WebRequest } from "../host/host.ts";
import { type BearerToken, CHALLENGE } from "./bearer-token.ts";
import { textReply } from "./replies.ts";

/** What a POST request can ask for. */
export const ACTIONS = ["compile", "rollback", "hold"] as const;
export type Action = (typeof ACTIONS)[number];

/** A permitted request to change what is published. */
export interface ActionRequest {
  readonly action: Exclude<Action, "compile">;
  readonly list: string;
  /** `@1`, `@2026-11-14`. */
  readonly build?: string;
  /** Whether the hold ends. */
  readonly end: boolean;
  /** The address of the client. */
  readonly from: string;
}

const PARAMETERS: Readonly<Record<Action, readonly string[]>> = {
  compile: [],
  rollback: ["list", "to"],
  hold: ["list", "to", "end"],
};

/** Why a request may not act; undefined if it may. Only the token counts: a proxy on this machine looks like a local process. */
export function refusalOf(
  { headers, method }: WebRequest,
  token: BearerToken,
): WebReply | undefined {
  if (method !== "POST") return textReply(405, "Use POST\n", { allow: "POST" });
  // A page of any site can send requests to this machine; browsers name the site or say where the request comes from.
  const isPage = headers["origin"] !== undefined || headers["sec-fetch-site"] !== undefined;
  if (isPage) return textReply(403, "Not from a browser\n");
  if (token.isIn(headers["authorization"])) return undefined;
  const where = "It is in the file that the server names in its log when it starts: curl -H @FILE";
  return textReply(
    401,
    `A valid token is needed: Authorization: Bearer TOKEN. ${where}\n`,
    CHALLENGE,
  );
}

/** The parameters of a permitted request, or the reply to a request that has others than it may. */
export function parametersOf(
  action: Action,
  request: WebRequest,
  lists: readonly string[],
): ActionRequest | "compile" | WebReply {
  const { target, address, headers } = request;
  const query = new URLSearchParams(target.split("?").slice(1).join("?"));
  const keys = [...query.keys()];
  const unknown = keys.find((key) => !PARAMETERS[action].includes(key));
  const known = someOf(PARAMETERS[action]) || "none";
  if (unknown !== undefined || new Set(keys).size < keys.length)
    return textReply(400, `Unknown or repeated parameter. Known: ${known}\n`);
  if (action === "compile") return "compile";
  const hasBody =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
  if (hasBody)
    return textReply(415, `Send no body; parameters belong in the query. Known: ${known}\n`);
  const list = query.get("list") ?? (lists.length === 1 ? lists[0]! : "");
  if (!lists.includes(list)) return textReply(404, `Add list=, one of: ${someOf(lists)}\n`);
  const to = query.get("to");
  const build = to === null ? undefined : `@${to.replace(/^@/, "")}`;
  if (build !== undefined && !BUILD.test(build))
    return textReply(400, "to= must be a build such as 1 or 2026-11-14\n");
  const end = query.get("end");
  if (end !== null && !/^(?:|[01]|true|false)$/.test(end))
    return textReply(400, "end= must be 1 or 0\n");
  const isEnd = /^(?:|1|true)$/.test(end ?? "0");
  if (isEnd && build !== undefined) return textReply(400, "end takes no to=\n");
  return { action, list, ...(build !== undefined && { build }), end: isEnd, from: address };
}
