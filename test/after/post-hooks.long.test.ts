import assert from "node:assert/strict";
import { test } from "node:test";
import { formAt } from "../../src/after/hook-actions.ts";
import { BAD, HookProject, type Received, webhook } from "../support/hook-project.ts";

function textIn({ body }: Received): Record<string, unknown> {
  return JSON.parse(body) as Record<string, unknown>;
}

test("each form of a message is as its service documents it", async (t) => {
  const { base, received } = await webhook(t, ({ url }) => ({
    status: url.startsWith("/discord") ? 204 : 200,
  }));
  const post = (as: string, path: string, more: object = {}): object => {
    project.write(`${as}.url`, `${base}${path}\n`);
    return { post: `${as}.url`, as, ...more };
  };
  const project = new HookProject(t, [], {});
  const name = "A & <!channel> @everyone";
  project.write("token", "planted-token\n");
  const hooks = [
    post("json", "/json?key=1", { token_file: "token" }),
    post("slack", "/slack"),
    post("discord", "/discord"),
    post("ntfy", "/base/my%20topic", { token_file: "token" }),
    post("telegram", "/bot1:planted/sendMessage?chat_id=-100"),
    post("healthchecks", "/uuid/"),
  ];
  project.hooks(hooks, { name });
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 0, stderr);
  assert.doesNotMatch(stderr, /hook-failed/);
  const line = `${name}: published; 3 rules`;
  const [json, slack, discord, ntfy, telegram, ping, ...more] = received;
  assert.deepEqual(more, []);
  for (const { method, headers } of received) {
    assert.equal(method, "POST");
    assert.equal(headers["user-agent"], "rules-compiler");
  }
  assert.equal(json!.url, "/json?key=1");
  assert.equal(json!.headers["authorization"], "Bearer planted-token");
  assert.equal(json!.headers["content-type"], "application/json");
  assert.equal(textIn(json!)["event"], "published");
  assert.equal(textIn(json!)["list"], name);
  assert.deepEqual(textIn(slack!), {
    text: "A &amp; &lt;!channel&gt; @everyone: published; 3 rules",
  });
  assert.deepEqual(textIn(discord!), { content: line, allowed_mentions: { parse: [] } });
  assert.equal(ntfy!.url, "/base/");
  assert.equal(ntfy!.headers["authorization"], "Bearer planted-token");
  assert.deepEqual(textIn(ntfy!), {
    topic: "my topic",
    title: "rules-compiler: published",
    message: line,
    priority: 3,
  });
  assert.equal(telegram!.url, "/bot1:planted/sendMessage");
  assert.deepEqual(textIn(telegram!), { chat_id: "-100", text: line });
  assert.equal(ping!.url, "/uuid/");
  assert.equal(ping!.body, line);
});

test("the host of a URL says which service it is", () => {
  const forms = {
    "https://hooks.slack.com/services/T/B/x": "slack",
    "https://discord.com/api/webhooks/1/x": "discord",
    "https://api.telegram.org/bot1:x/sendMessage?chat_id=-100": "telegram",
    "https://ntfy.sh/topic": "ntfy",
    "https://hooks.slack.com.example/services/x": "json",
    "https://example.org/hooks.slack.com": "json",
  };
  for (const [url, form] of Object.entries(forms)) assert.equal(formAt(new URL(url)), form, url);
});

test("healthchecks receives a message after every run, and /fail after a refusal", async (t) => {
  const { base, received } = await webhook(t);
  const project = new HookProject(t, [{ post: "url", as: "healthchecks" }]);
  project.write("url", `${base}/uuid`);
  await project.run("-c", "c.json", "--permit", "hooks");
  await project.run("-c", "c.json", "--permit", "hooks");
  project.lines(BAD);
  await project.run("-c", "c.json", "--permit", "hooks");
  await project.run("-c", "c.json", "--permit", "hooks");
  assert.deepEqual(
    received.map(({ url }) => url),
    ["/uuid", "/uuid", "/uuid/fail", "/uuid/fail"],
  );
  assert.match(received[3]!.body, /^My list: refused; \[blocks-suffix\]/);
});

test("no message leaves without --permit hooks", async (t) => {
  const { base, received } = await webhook(t);
  const project = new HookProject(t, [{ post: "url" }]);
  project.write("url", `${base}/`);
  await project.run("-c", "c.json");
  assert.deepEqual(received, []);
});

test("a redirect is not followed, and a message that failed is sent again", async (t) => {
  const other = await webhook(t);
  let status = 307;
  const { base, received } = await webhook(t, () => ({
    status,
    headers: status === 307 ? { location: `${other.base}/stolen` } : {},
  }));
  const project = new HookProject(t, [{ post: "url", token_file: "url" }]);
  project.write("url", `${base}/`);
  const first = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(first.exit, 0);
  assert.match(first.stderr, /because: the response has status 307; secrets are not sent/);
  status = 500;
  const second = await project.run("-c", "c.json", "--permit", "hooks", "--verbose");
  assert.match(second.stderr, /because: the response has status 500/);
  status = 202;
  await project.run("-c", "c.json", "--permit", "hooks");
  await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(received.length, 3);
  assert.deepEqual(other.received, []);
});

test("a server that never answers costs the timeout, not more", async (t) => {
  const { base } = await webhook(t, () => ({ isSilent: true }));
  const project = new HookProject(t, [{ post: "url", timeout: "1s" }]);
  project.write("url", `${base}/`);
  const began = Date.now();
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 0);
  assert.match(stderr, /because: (?:no answer|the response was not complete) within 1 s/);
  assert.ok(Date.now() - began < 4000);
});

test("AdGuard Home, Pi-hole and Technitium receive the documented requests", async (t) => {
  const { base, received } = await webhook(t, ({ url, body }) => {
    if (url === "/api/auth") {
      const isRight = body === "" || body === '{"password":"planted-token"}';
      return { body: JSON.stringify({ session: { valid: isRight, sid: isRight ? "s=1" : null } }) };
    }
    if (url.includes("forceUpdate")) {
      const isRight = body === "token=planted-token";
      return { body: JSON.stringify({ status: isRight ? "ok" : "invalid-token" }) };
    }
    return {};
  });
  const api = (reload: string, more: object = {}): object => ({
    reload,
    url: `${base}/`,
    token_file: "token",
    ...more,
  });
  const hooks = [api("adguard-home", { user: "admin" }), api("pi-hole"), api("technitium")];
  const project = new HookProject(t, hooks);
  project.write("token", "planted-token");
  const { stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(stderr.split("hook-ran").length, 4, stderr);
  const [refresh, login, gravity, logout, update, ...more] = received;
  assert.deepEqual(more, []);
  assert.equal(refresh!.url, "/control/filtering/refresh");
  assert.equal(refresh!.headers["authorization"], `Basic ${btoa("admin:planted-token")}`);
  assert.equal(refresh!.body, '{"whitelist":false}');
  assert.equal(login!.url, "/api/auth");
  assert.equal(gravity!.url, "/api/action/gravity");
  assert.equal(gravity!.headers["x-ftl-sid"], "s=1");
  assert.deepEqual([logout!.method, logout!.url], ["DELETE", "/api/auth"]);
  assert.equal(logout!.headers["x-ftl-sid"], "s=1");
  assert.equal(update!.url, "/api/settings/forceUpdateBlockLists");
  project.write("token", "wrong");
  project.lines(["||other.example^", "||two.example^", "||three.example^"]);
  const wrong = await project.run("-c", "c.json", "--permit", "hooks");
  assert.match(wrong.stderr, /because: Pi-hole rejected the password/);
  assert.match(wrong.stderr, /because: Technitium rejected the token/);
});
