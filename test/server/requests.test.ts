import type { WhyOfList } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebReply } from "../../src/host/host.ts";
import { type ActionRequest, BearerToken, jsonReply } from "../../src/server/requests.ts";
import { type RouteContext, route } from "../../src/server/routes.ts";
import { WhyAnswers, type WhyQuestion } from "../../src/server/why.ts";
import { memoryHost } from "../support/internals.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const ANSWER: readonly WhyOfList[] = [
  {
    list: "Home",
    names: [
      {
        name: "ads.example",
        verdict: "blocked",
        rule: { text: "||<b>^", source: '"Ads"', file: "ads.txt", line: 1 },
        partial: [],
        lines: [],
        unseen: [],
      },
    ],
  },
];

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly address?: string;
  readonly token?: string;
  readonly lists?: readonly string[];
}

/** Routes with real checks; what they would do is kept. */
class Routes {
  readonly acted: (ActionRequest | "compile")[] = [];
  readonly questions: WhyQuestion[] = [];
  private readonly why = new WhyAnswers({
    host: memoryHost(),
    signal: new AbortController().signal,
    resolvers: ["home"],
    version: () => "",
    onError: (error) => assert.fail(String(error)),
    answer: async (question) => {
      this.questions.push(question);
      return ANSWER;
    },
  });

  async ask(target: string, asked: Asked = {}): Promise<WebReply> {
    const { method = "POST", address = "127.0.0.1", token, lists = ["Home"] } = asked;
    // The tests of tokens name one; all others have the right one.
    const headers = { ...(token === undefined && bearer(TOKEN)), ...asked.headers };
    const context = {
      token: new BearerToken(token ?? TOKEN),
      hostNames: [],
      listNames: lists,
      why: this.why,
      compile: () => {
        this.acted.push("compile");
        return "started";
      },
      act: async (request: ActionRequest) => {
        this.acted.push(request);
        return jsonReply(200, {});
      },
    } as unknown as RouteContext;
    const request = { method, target, headers: { host: "localhost:5000", ...headers }, address };
    return await route(request, context).reply;
  }
}

function textOf({ body }: WebReply): string {
  assert.ok(typeof body === "string");
  return body;
}

const ACTIONS = ["/compile", "/rollback", "/hold", "/hold?end"] as const;

/** Who may not act, whatever the action. */
const REFUSED: readonly (readonly [string, number, Asked])[] = [
  ["another method", 405, { method: "GET" }],
  ["HEAD", 405, { method: "HEAD" }],
  ["a preflight request", 405, { method: "OPTIONS", headers: { origin: "https://evil.example" } }],
  ["a method in lower case", 405, { method: "post" }],
  ["a form of another site", 403, { headers: { origin: "https://evil.example" } }],
  ["a sandboxed frame", 403, { headers: { origin: "null" } }],
  ["a page of the server itself", 403, { headers: { origin: "http://localhost:5000" } }],
  ["a browser without an origin", 403, { headers: { "sec-fetch-site": "none" } }],
  ["another machine", 401, { token: TOKEN, address: "192.0.2.7" }],
  ["this machine", 401, { token: TOKEN, address: "127.0.0.1" }],
  ["this machine over IPv6", 401, { token: TOKEN, address: "::1" }],
  ["a proxy", 401, { token: TOKEN, headers: { "x-forwarded-for": "127.0.0.1" } }],
  ["a rebound name", 401, { token: TOKEN, headers: { host: "rebound.evil.example" } }],
  ["a wrong token", 401, { token: TOKEN, headers: bearer(TOKEN.replace("0", "1")) }],
  ["the start of the token", 401, { token: TOKEN, headers: bearer(TOKEN.slice(0, -1)) }],
  ["the token and more", 401, { token: TOKEN, headers: bearer(`${TOKEN}0`) }],
  ["an empty token", 401, { token: TOKEN, headers: { authorization: "Bearer " } }],
  ["the token without a scheme", 401, { token: TOKEN, headers: { authorization: TOKEN } }],
  ["another scheme", 401, { token: TOKEN, headers: { authorization: `Basic ${TOKEN}` } }],
  ["two tokens", 401, { token: TOKEN, headers: bearer(`x, Bearer ${TOKEN}`) }],
  ["a huge token", 401, { token: TOKEN, headers: bearer("x".repeat(15_000)) }],
  [
    "a page that knows the token",
    403,
    { token: TOKEN, headers: { ...bearer(TOKEN), origin: "https://evil.example" } },
  ],
];

function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

test("requests that may not act are refused, and nothing happens", async () => {
  for (const action of ACTIONS)
    for (const [who, status, asked] of REFUSED) {
      const routes = new Routes();
      const reply = await routes.ask(action, asked);
      assert.equal(reply.status, status, `${action}: ${who}`);
      assert.deepEqual(routes.acted, [], `${action}: ${who}`);
      assert.ok(!JSON.stringify(reply).includes(TOKEN), who);
      if (status === 401) assert.match(reply.headers["www-authenticate"] ?? "", /^Bearer /);
      if (status === 405) assert.equal(reply.headers["allow"], "POST");
    }
});

test("the token is enough, from any machine and through a proxy", async () => {
  const routes = new Routes();
  const headers = { ...bearer(TOKEN), host: "lists.example", "x-forwarded-for": "192.0.2.9" };
  for (const action of ACTIONS) {
    const reply = await routes.ask(action, { address: "192.0.2.7", token: TOKEN, headers });
    assert.equal(reply.status, action === "/compile" ? 202 : 200, action);
  }
  const other = { authorization: `bearer   ${TOKEN}` };
  assert.equal((await routes.ask("/hold", { token: TOKEN, headers: other })).status, 200);
  assert.equal(routes.acted.length, 5);
});

test("parameters that are not known, repeated or invalid are refused", async () => {
  const body = { "content-length": "4" };
  const wrong: readonly (readonly [string, number, Asked?])[] = [
    ["/compile?list=Home", 400],
    ["/rollback?build=1", 400],
    ["/rollback?to=1&to=2", 400],
    ["/rollback?to=", 400],
    ["/rollback?to=-1", 400],
    ["/rollback?to=1%0a2", 400],
    ["/rollback?to=--end", 400],
    ["/rollback?to=@@1", 400],
    ["/rollback?to=9999", 400],
    [`/rollback?to=${"1".repeat(5000)}`, 400],
    ["/hold?end=maybe", 400],
    ["/rollback?list=Other", 404],
    ["/rollback?list=*", 404],
    ["/rollback?list=--permit=hooks", 404],
    ["/rollback?list=Home%00", 404],
    ["/rollback?list=%ff", 404],
    ["/hold?to=1&end", 400],
    ["/hold?__proto__=1", 400],
    ["/rollback?end", 400],
    ["/hold?hold", 400],
    ["/rollback", 404, { lists: ["Home", "Work"] }],
    ["/rollback", 415, { headers: body }],
    ["/hold", 415, { headers: { "transfer-encoding": "chunked" } }],
    ["/hold?end", 415, { headers: { "content-length": "x" } }],
  ];
  for (const [target, status, asked] of wrong) {
    const routes = new Routes();
    assert.equal((await routes.ask(target, asked)).status, status, target);
    assert.deepEqual(routes.acted, [], target);
  }
});

test("parameters select the build and the list", async () => {
  const routes = new Routes();
  for (const target of [
    "/rollback",
    "/hold?to=2",
    "/rollback?to=%402026-11-14T06",
    "/hold",
    "/hold?end&list=Home",
  ])
    assert.equal((await routes.ask(target)).status, 200, target);
  const base = { list: "Home", from: "127.0.0.1", end: false };
  assert.deepEqual(routes.acted, [
    { ...base, action: "rollback" },
    { ...base, action: "hold", build: "@2" },
    { ...base, action: "rollback", build: "@2026-11-14T06" },
    { ...base, action: "hold" },
    { ...base, action: "hold", end: true },
  ]);
});

test("questions that are not about a name start nothing", async () => {
  const wrong: readonly string[] = [
    "/why",
    "/why?",
    "/why?name",
    "/why?name=",
    "/why?name=%20",
    "/why?name=.",
    "/why?name=a..b",
    `/why?name=${"a".repeat(64)}.example`,
    `/why?name=${"a.".repeat(127)}example`,
    `/why?name=${"a".repeat(100_000)}`,
    `/why?name=a.example&x=${"a".repeat(100_000)}`,
    "/why?name=a%00b.example",
    "/why?name=a%1b[2J.example",
    "/why?name=a%0ab.example",
    "/why?name=a%20b.example",
    "/why?name=<script>alert(1)</script>",
    "/why?name=../../etc/passwd",
    "/why?name=%ff%fe",
    "/why?name=a.example&list=Other",
    "/why?name=a.example&list=*",
    "/why?Name=a.example",
  ];
  for (const target of wrong)
    for (const accept of ["*/*", "text/html"]) {
      const routes = new Routes();
      const headers = { accept };
      const reply = await routes.ask(target, { method: "GET", headers });
      const text = textOf(reply);
      const isEmptyForm = accept === "text/html" && /^\/why\??(?:name=?|Name=.*)?$/.test(target);
      assert.equal(reply.status, isEmptyForm ? 200 : 400, `${accept} ${target.slice(0, 80)}`);
      assert.deepEqual(routes.questions, [], target.slice(0, 80));
      assert.ok(text.length < 10_000, "an answer is small");
      assert.doesNotMatch(text, /<script|\u0000|\u001b/);
    }
});

test("a resolver is asked only for clients with the token, and only one of the configuration", async () => {
  const routes = new Routes();
  const token = "0123456789abcdef-secret";
  const status = async (resolver: string, asked: Asked): Promise<number> =>
    (await routes.ask(`/why?name=a.example&resolver=${resolver}`, { method: "GET", ...asked }))
      .status;
  for (const resolver of ["home", "other"]) {
    assert.equal(await status(resolver, { token }), 401);
    for (const authorization of ["", "Bearer", "Bearer x", `Basic ${token}`, `Bearer ${token}x`])
      for (const accept of ["*/*", "text/html"])
        assert.equal(await status(resolver, { token, headers: { authorization, accept } }), 401);
    assert.equal(await status(`${resolver}&token=${token}`, { token }), 401);
  }
  assert.deepEqual(routes.questions, []);
  const headers = { authorization: `Bearer ${token}` };
  for (const resolver of ["192.0.2.1", "--permit=hooks", "Home"])
    assert.equal(await status(resolver, { token, headers }), 400);
  assert.deepEqual(routes.questions, []);
  assert.equal(await status("home", { token, headers }), 200);
  assert.deepEqual(
    routes.questions.map(({ name, resolver }) => [name, resolver]),
    [["a.example", "home"]],
  );
  // What was answered stays with those who may ask.
  assert.equal(await status("home", { token }), 401);
});

test("names are read as why reads them", async () => {
  const routes = new Routes();
  for (const name of [
    "ads.example",
    "ADS.example.",
    "https://ads.example/x?y",
    "||ads.example^",
    "münchen.example",
    "_dmarc.example",
    "-x.example",
  ])
    await routes.ask(`/why?name=${encodeURIComponent(name)}&list=Home`, {
      method: "GET",
      address: "192.0.2.7",
    });
  assert.deepEqual(
    routes.questions.map(({ name }) => name),
    ["ads.example", "xn--mnchen-3ya.example", "_dmarc.example", "-x.example"],
    "and the same question is answered from memory",
  );
});

test("the answer is JSON for programs and a page for browsers, with everything escaped", async () => {
  const routes = new Routes();
  const target = "/why?name=ads.example";
  const json = await routes.ask(target, { method: "GET" });
  assert.deepEqual(JSON.parse(textOf(json)), { name: "ads.example", lists: ANSWER });
  const headers = { accept: "text/html,application/xhtml+xml" };
  for (const page of [
    await routes.ask(target, { method: "GET", headers }),
    await routes.ask(`${target}&html`, { method: "GET" }),
  ]) {
    assert.match(
      page.headers["content-security-policy"]!,
      /default-src 'none'.*form-action 'self'/,
    );
    assert.equal(page.headers["vary"], "accept");
    const text = textOf(page);
    assert.match(text, /ads\.example: blocked/);
    assert.match(text, /&lt;b&gt;\^/);
    assert.match(text, /&quot;Ads&quot;, ads\.txt:1/);
    assert.doesNotMatch(text, /<b>|<script/);
  }
  assert.equal((await routes.ask(target, { method: "POST" })).status, 405);
});
