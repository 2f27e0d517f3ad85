import { askedName } from "../library/programs.ts";
import { timestampText, printable, someOf } from "../diagnostics/text.ts";
import type { Explanation, LineFate, RuleInList, WhyOfList } from "../documents/facts.ts";
import type { Host, OnError, WebReply, WebRequest } from "../host/host.ts";
import { clientAddress } from "../host/node-http-server.ts";
import { Html, html, htmlPage, table } from "../pages/html.ts";
import { type BearerToken, CHALLENGE, jsonReply, pageReply } from "./requests.ts";
import { withDeadline } from "./runs.ts";

interface WhyContext {
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

/** A question about a name that was checked. */
export interface WhyQuestion {
  readonly name: string;
  /** One list; all lists by default. */
  readonly list?: string | undefined;
  /** The resolver that knows which names the name is an alias of. */
  readonly resolver?: string | undefined;
}

export interface WhyOptions {
  readonly host: Host;
  readonly signal: AbortSignal;
  /** Names of the resolvers of the configuration. */
  readonly resolvers: readonly string[];
  /** Answers in a child process. */
  readonly answer: (question: WhyQuestion, signal: AbortSignal) => Promise<readonly WhyOfList[]>;
  /** Called if it could not be answered. */
  readonly onError: OnError;
  /** Changes with every list that is published. */
  version(): string;
}

/** `busy`: this client, or all together, ask too much. `late`: it took too long. `failed`: there is no answer. */
export type WhyEnd = readonly WhyOfList[] | "busy-client" | "busy" | "late" | "failed";

const MOST_AT_ONCE = 2;
const MOST_WAITING = 16;
const MOST_PER_CLIENT = 4;
const MOST_KEPT = 100;
/** Answers with more text are not kept. */
const MOST_KEPT_TEXT = 32 * 1024;
const KEPT_MS = 60_000;
const DEADLINE_MS = 10_000;

interface Kept {
  readonly at: number;
  readonly end: Promise<WhyEnd>;
}

/** Answers questions about names: a few at a time, the last ones from memory. */
export class WhyAnswers {
  readonly resolvers: readonly string[];
  private readonly options: WhyOptions;
  private readonly kept = new Map<string, Kept>();
  private readonly clients = new Map<string, number>();
  private readonly waiting: (() => void)[] = [];
  private running = 0;
  private version = "";

  constructor(options: WhyOptions) {
    this.options = options;
    this.resolvers = options.resolvers;
  }

  async ask(question: WhyQuestion, address: string): Promise<WhyEnd> {
    const now = this.options.host.now().getTime();
    const version = this.options.version();
    if (version !== this.version) this.kept.clear();
    this.version = version;
    const key = JSON.stringify([question.name, question.list, question.resolver]);
    const known = this.kept.get(key);
    if (known !== undefined && Math.abs(now - known.at) < KEPT_MS) return await known.end;
    const client = clientAddress(address);
    const own = this.clients.get(client) ?? 0;
    if (own >= MOST_PER_CLIENT) return "busy-client";
    if (this.waiting.length >= MOST_WAITING) return "busy";
    this.clients.set(client, own + 1);
    const end = this.inTurn(question).finally(() => this.leave(client));
    const kept = { at: now, end };
    this.kept.set(key, kept);
    const { value, size } = await sized(end);
    if (size > MOST_KEPT_TEXT && this.kept.get(key) === kept) this.kept.delete(key);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) break;
      this.kept.delete(old);
    }
    return value;
  }

  private leave(client: string): void {
    const left = this.clients.get(client)! - 1;
    if (left === 0) this.clients.delete(client);
    else this.clients.set(client, left);
  }

  private async inTurn(question: WhyQuestion): Promise<WhyEnd> {
    if (this.running >= MOST_AT_ONCE)
      await new Promise<void>((begin) => void this.waiting.push(begin));
    else this.running++;
    try {
      const { signal, answer, onError } = this.options;
      const { value, isLate } = await withDeadline(DEADLINE_MS, signal, (until) =>
        answer(question, until).catch((error: unknown) => {
          if (!until.aborted) onError(error);
          return undefined;
        }),
      );
      return isLate ? "late" : (value ?? "failed");
    } finally {
      // The place goes to the next one.
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}

/** How much text an answer has. An answer with a problem is not kept: a list may just be published. */
async function sized(end: Promise<WhyEnd>): Promise<{ value: WhyEnd; size: number }> {
  const value = await end;
  const isWhole = typeof value !== "string" && value.every(({ problem }) => problem === undefined);
  return { value, size: isWhole ? JSON.stringify(value).length : Infinity };
}

interface WhyView {
  readonly query: URLSearchParams;
  readonly answer: { readonly error?: string; readonly lists?: readonly WhyOfList[] };
  readonly listNames: readonly string[];
}

/** Lines of sources that are shown; the rest are counted. */
const MOST_LINES = 20;

const LONGEST_NAME = 253;

const VERDICTS = {
  blocked: ["bad", "blocked"],
  allowed: ["good", "allowed"],
  rewritten: ["warn", "rewritten"],
  neither: ["", "neither blocked nor allowed"],
} as const;

/** The answer for a name, and a field for the next question. */
function whyPage({ query, answer, listNames }: WhyView): string {
  const typed = typedIn(query);
  const body = html`<header>
      <h1>Is a name blocked?</h1>
      <a href="./">status</a>
    </header>
    <main>
      ${whyForm({ listNames }, query)}
      ${
        answer.error === undefined
          ? undefined
          : html`<section class="card bad" role="alert">${answer.error}</section>`
      }
      ${(answer.lists ?? []).map(listAnswer)}
    </main>`;
  return htmlPage(typed === "" ? "Is a name blocked?" : `Is ${typed} blocked?`, body);
}

/** A field to ask about a name. It needs no script. */
export function whyForm(
  { listNames }: Pick<WhyView, "listNames">,
  query: URLSearchParams = new URLSearchParams(),
): Html {
  return html`<form action="why" method="get" role="search">
    <input
      name="name"
      type="search"
      value="${typedIn(query)}"
      maxlength="${LONGEST_NAME}"
      required
      autocapitalize="none"
      autocomplete="off"
      spellcheck="false"
      placeholder="ads.example.com"
      aria-label="Name"
    />
    ${listNames.length > 1 ? listChoice(listNames, query) : undefined}
    <button>Is it blocked?</button>
  </form>`;
}

/** The name as it was typed. */
function typedIn(query: URLSearchParams): string {
  return printable(query.get("name") ?? "", LONGEST_NAME);
}

function listChoice(listNames: readonly string[], query: URLSearchParams): Html {
  const chosen = query.get("list");
  return html`<select name="list" aria-label="List">
    <option value="">all lists</option>
    ${listNames.map((one) =>
      one === chosen
        ? html`<option value="${one}" selected>${one}</option>`
        : html`<option value="${one}">${one}</option>`,
    )}
  </select>`;
}

function listAnswer({ list, names = [], problem }: WhyOfList): Html {
  return html`<h2>${list}</h2>
    ${problem === undefined ? undefined : html`<p class="warn">${problem.message}</p>`}
    ${names.map(explanation)}`;
}

function explanation({ name, verdict, rule, since, partial, lines, unseen }: Explanation): Html {
  const [tone, words] = VERDICTS[verdict];
  const more = lines.length - MOST_LINES;
  return html`<section class="card" aria-label="${name}">
    <div class="state ${tone}">${name}: ${words}</div>
    ${rule === undefined ? undefined : html`<div>by ${ruleText(rule)}</div>`}
    ${
      since === undefined
        ? undefined
        : html`<div class="faint">
            since
            ${timestampText(since.at)}${since.isOldest ? " or earlier: no older build is stored" : ""}
          </div>`
    }
    ${partial.map((one) => html`<div>for some clients or query types: ${ruleText(one)}</div>`)}
    ${
      lines.length === 0 && unseen.length === 0
        ? html`<div class="faint">no line of any source names it or a parent domain</div>`
        : undefined
    }
    ${
      lines.length === 0
        ? undefined
        : table("Lines", ["line", "source", "fate"], lines.slice(0, MOST_LINES).map(lineRow))
    }
    ${more > 0 ? html`<div class="faint">and ${more} more lines</div>` : undefined}
    ${
      unseen.length === 0
        ? undefined
        : html`<div class="faint">not checked, changed since or not cached: ${someOf(unseen)}</div>`
    }
  </section>`;
}

function ruleText({ text, source, file, line }: RuleInList): Html {
  return html`<code>${printable(text, 300)}</code>
    <span class="faint">${source}, ${file}${line === 0 ? "" : `:${line}`}</span>`;
}

function lineRow({ text, source, file, line, meaning }: LineFate): Html {
  return html`<tr>
    <td><code>${printable(text, 300)}</code></td>
    <td data-name="source">
      ${source}
      <div class="faint"><code>${file}:${line}</code></div>
    </td>
    <td data-name="fate" class="faint">${meaning}</td>
  </tr>`;
}
