import { askedName } from "../explain/asked-name.ts";
import type { WebReply, WebRequest } from "../host/host.ts";
import { type BearerToken, CHALLENGE } from "./bearer-token.ts";
import { jsonReply, pageReply } from "./replies.ts";
import type { WhyAnswers, WhyEnd, WhyQuestion } from "./why-answers.ts";
import { whyPage } from "./why-page.ts";

export interface WhyContext {
  readonly listNames: readonly string[];
  readonly why: WhyAnswers;
  /** The token of those who may ask resolvers. */
  readonly token: BearerToken;
}

const LONGEST_QUERY = 2000;
const NAME = /^(?=.{1,253}$)(?=.*[a-z\d])[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/;

const ENDS: Readonly<Record<Extract<WhyEnd, string>, readonly [number, string]>> = {
  "busy-client": [429, "You ask too many questions at once"],
  busy: [503, "Too many questions are waiting"],
  late: [504, "The answer took too long"],
  failed: [500, "The answer could not be computed"],
};

/**
 * Whether a name is blocked, by which rule and from which line: as JSON, or as a page for browsers. What a resolver knows is not
 * public, so only clients with the token may have it asked.
 */
export async function whyReply(request: WebRequest, context: WhyContext): Promise<WebReply> {
  const { headers, target, address } = request;
  const query = new URLSearchParams(target.slice(0, LONGEST_QUERY).split("?").slice(1).join("?"));
  const isPage = query.has("html") || (headers["accept"] ?? "").includes("text/html");
  const typed = query.get("name") ?? "";
  const reply = (status: number, answer: object, more: Record<string, string> = {}): WebReply => {
    if (!isPage) return jsonReply(status, answer, { vary: "accept", ...more });
    const { listNames } = context;
    const page = pageReply(status, whyPage({ query, answer, listNames }));
    return { ...page, headers: { ...page.headers, vary: "accept", ...more } };
  };
  if (isPage && typed === "") return reply(200, {});
  const hasResolver = (query.get("resolver") ?? "") !== "";
  if (hasResolver && !context.token.isIn(headers["authorization"]))
    return reply(
      401,
      { error: "Asking a resolver needs a token: Authorization: Bearer TOKEN" },
      CHALLENGE,
    );
  const asked =
    target.length > LONGEST_QUERY ? "The question is too long" : questionIn(query, context);
  if (typeof asked === "string") return reply(400, { error: asked });
  const end = await context.why.ask(asked, address);
  if (typeof end === "string") {
    const [status, error] = ENDS[end];
    return reply(status, { error }, status === 500 ? {} : { "retry-after": "2" });
  }
  const { name, resolver } = asked;
  const isAnswered = end.some(({ names }) => names !== undefined);
  return reply(isAnswered ? 200 : 503, { name, ...(resolver && { resolver }), lists: end });
}

/** The question, or what is wrong with it. */
function questionIn(query: URLSearchParams, { listNames, why }: WhyContext): WhyQuestion | string {
  const name = askedName(query.get("name") ?? "");
  if (!NAME.test(name)) return "Add name=, a domain name such as ads.example.com";
  const list = query.get("list") || undefined;
  if (list !== undefined && !listNames.includes(list)) return "No list has this name";
  const resolver = query.get("resolver") || undefined;
  if (resolver !== undefined && !why.resolvers.includes(resolver))
    return "No resolver has this name";
  return { name, list, resolver };
}
