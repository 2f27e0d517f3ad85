import { Buffer } from "node:buffer";
import type { HookConfig } from "../config/config.ts";
import { HookFailure } from "./hook-failure.ts";
import type { HookSetting } from "./hook-setting.ts";
import { readSecret } from "./secret-file.ts";
import { sendRequest } from "./send-request.ts";

/** `POST /control/filtering/refresh` downloads the lists that AdGuard Home subscribes to. */
export async function refreshAdGuardHome(hook: HookConfig, setting: HookSetting): Promise<string> {
  const password = await tokenOf(hook, setting);
  const pair = Buffer.from(`${hook.user ?? ""}:${password ?? ""}`).toString("base64");
  const headers = password === undefined ? {} : { authorization: `Basic ${pair}` };
  const url = addressOf(hook, "control/filtering/refresh");
  await sendRequest({ url, headers, body: { whitelist: false } }, setting);
  return "";
}

/** `POST /api/action/gravity` in a session, which is ended afterwards because Pi-hole has few of them. */
export async function refreshPiHole(hook: HookConfig, setting: HookSetting): Promise<string> {
  const password = await tokenOf(hook, setting);
  const auth = addressOf(hook, "api/auth");
  const headers: Record<string, string> = {};
  if (password !== undefined) {
    const text = await sendRequest({ url: auth, body: { password } }, setting);
    headers["x-ftl-sid"] = sessionIn(text);
  }
  try {
    await sendRequest({ url: addressOf(hook, "api/action/gravity"), headers }, setting);
  } finally {
    if (password !== undefined)
      await sendRequest({ url: auth, method: "DELETE", headers }, setting).catch(() => {});
  }
  return "";
}

/** `/api/settings/forceUpdateBlockLists`. Its responses have status 200 even if they report an error. */
export async function refreshTechnitium(hook: HookConfig, setting: HookSetting): Promise<string> {
  const body = new URLSearchParams({ token: (await tokenOf(hook, setting)) ?? "" }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const url = addressOf(hook, "api/settings/forceUpdateBlockLists");
  const { status } = objectIn(await sendRequest({ url, headers, body }, setting));
  if (status === "invalid-token") throw new HookFailure("Technitium rejected the token");
  if (status !== "ok") throw new HookFailure("Technitium reported an error");
  return "";
}

function addressOf({ url = "" }: HookConfig, path: string): string {
  return `${url.replace(/\/+$/, "")}/${path}`;
}

async function tokenOf(
  { token_file: file }: HookConfig,
  { folder, host }: HookSetting,
): Promise<string | undefined> {
  return file === undefined ? undefined : (await readSecret(file, folder, host)).reveal();
}

function sessionIn(text: string): string {
  const { session } = objectIn(text);
  const { sid } = (session ?? {}) as { sid?: unknown };
  if (typeof sid === "string" && /^[\x21-\x7e]{1,512}$/.test(sid)) return sid;
  throw new HookFailure("Pi-hole rejected the password");
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new HookFailure("the response is not JSON");
}
