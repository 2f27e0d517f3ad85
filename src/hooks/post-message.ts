import type { HookConfig } from "../config/config.ts";
import type { PostForm } from "../config/hook-fields.ts";
import { HookFailure } from "./hook-failure.ts";
import { type HookMessage, lineOf } from "./hook-message.ts";
import type { HookSetting } from "./hook-setting.ts";
import { readSecret } from "./secret-file.ts";
import { type OutgoingRequest, sendRequest } from "./send-request.ts";

type Form = (message: HookMessage, url: URL) => OutgoingRequest;

/** The forms of services with a host of their own. */
const HOSTS: ReadonlyMap<string, PostForm> = new Map([
  ["hooks.slack.com", "slack"],
  ["discord.com", "discord"],
  ["api.telegram.org", "telegram"],
  ["ntfy.sh", "ntfy"],
]);

/** The request of each service, in the form that it documents. */
const FORMS: Readonly<Record<PostForm, Form>> = {
  json: (message, { href }) => ({ url: href, body: message }),
  // The three characters that Slack interprets must be escaped.
  slack: (message, { href }) => ({
    url: href,
    body: {
      text: lineOf(message)
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;"),
    },
  }),
  // Without `parse`, no text in the message can notify a user or a role.
  discord: (message, { href }) => ({
    url: href,
    body: { content: lineOf(message), allowed_mentions: { parse: [] } },
  }),
  ntfy: (message, url) => {
    // Messages as JSON go to the server, and name the topic.
    const at = url.pathname.lastIndexOf("/");
    const topic = decodeURIComponent(url.pathname.slice(at + 1));
    if (topic === "") throw new HookFailure("the URL of ntfy must end with a topic");
    const server = new URL(url);
    server.pathname = url.pathname.slice(0, at + 1);
    const { event } = message;
    const isBad = event === "refused" || event === "failed";
    const body = { topic, title: `rules-compiler: ${event}`, message: lineOf(message) };
    return { url: server.href, body: { ...body, priority: isBad ? 4 : 3 } };
  },
  telegram: (message, url) => {
    const chat = url.searchParams.get("chat_id");
    if (chat === null) throw new HookFailure("the URL of telegram must end with ?chat_id=…");
    const bot = new URL(url);
    bot.search = "";
    return { url: bot.href, body: { chat_id: chat, text: lineOf(message) } };
  },
  healthchecks: (message, url) => {
    const { event } = message;
    const ping = new URL(url);
    if (event === "refused" || event === "failed")
      ping.pathname = `${url.pathname.replace(/\/$/, "")}/fail`;
    return { url: ping.href, body: lineOf(message) };
  },
};

/** The form of the service at a URL. */
export function formAt({ hostname }: URL): PostForm {
  return HOSTS.get(hostname) ?? "json";
}

/** Sends a message. Rejects with a `HookFailure`. */
export async function postMessage(
  { post: urlFile, as, token_file: file }: HookConfig,
  message: HookMessage,
  setting: HookSetting,
): Promise<void> {
  const { folder, host } = setting;
  const address = (await readSecret(urlFile!, folder, host)).reveal();
  if (!URL.canParse(address))
    throw new HookFailure("the file of post does not contain a valid URL");
  const url = new URL(address);
  const request = FORMS[as ?? formAt(url)](message, url);
  const token = file === undefined ? undefined : await readSecret(file, folder, host);
  const headers = token && { authorization: `Bearer ${token.reveal()}` };
  await sendRequest({ ...request, ...(headers && { headers }) }, setting);
}
