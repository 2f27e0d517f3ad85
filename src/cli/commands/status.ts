import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable, reasonOf, withoutCredentials } from "../../diagnostics/text.ts";
import { sendToOutput } from "../../host/files.ts";
import { type Host, HostError } from "../../host/host.ts";
import { fetchBody } from "../../host/node-fetch.ts";
import type { Options } from "../flags/options.ts";
import { portOf } from "../flags/serve-options.ts";
import { statusText } from "../output/explanation-text.ts";
import { columnsOf } from "../output/reporter.ts";
import { showText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Shows a running server on one screen. */
export const statusCommand: Command = async (options, host, reporter, signal) => {
  const server = serverOf(options, host);
  const answer = await askHealth(`${server}/health`, host, signal);
  const { status, health } = answer;
  if (health !== undefined) {
    const { dataStyle } = reporter;
    if (options.json) await sendHealth(health, host);
    else await showText(statusText(health, dataStyle, columnsOf(host.stdout)), host);
  }
  if (status !== 200 || health === undefined) throw unhealthy(`at ${printable(server)}`, answer);
  return Exit.Done;
};

/** The URL of the server, without a slash at the end. Throws a `CompilerError`. */
function serverOf({ args }: Options, { env }: Host): string {
  const [text, ...more] = args.operands;
  if (text === undefined) return `http://127.0.0.1:${portOf(args, env)}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  const isPlain = url?.username === "" && url.password === "" && url.search + url.hash === "";
  if (url !== undefined && isWeb && isPlain && more.length === 0)
    return url.href.replace(/\/+$/, "");
  const shown = printable(args.operands.map((one) => withoutCredentials(one)).join(" "), 60);
  throw new CompilerError([
    errorOf("wrong-usage", `status takes the URL of a server, not ${shown}`, {
      hint: "Such as http://192.0.2.7:5000, without a password or a query",
    }),
  ]);
}

const TIMEOUTS = { connectMs: 3000, headersMs: 3000, idleMs: 3000, totalMs: 5000 };

/** The answer of a server about its health. Of the fields, only these two are checked. */
export interface ServerHealth {
  readonly status: string;
  readonly reason: string;
  readonly [field: string]: unknown;
}

export interface HealthAnswer {
  /** The status of the response. */
  readonly status: number;
  /** Undefined if another program answers. */
  readonly health: ServerHealth | undefined;
}

/** Asks a server for its health. Rejects with a `CompilerError` if none responds. */
export async function askHealth(
  url: string,
  host: Host,
  signal: AbortSignal,
): Promise<HealthAnswer> {
  const headers = { accept: "application/json" };
  const limits = { timeouts: TIMEOUTS, maxBytes: 16 * 1024 * 1024, onlyPublic: false };
  // An unhealthy server responds with a status other than 200.
  const takesAnyStatus = true;
  try {
    const { status, body } = await fetchBody(
      { url, headers, ...limits, takesAnyStatus, signal },
      host,
    );
    return { status, health: healthIn(new TextDecoder().decode(body)) };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("health-failed", `No server responds at ${printable(url)}`, {
        cause: reasonOf(error.code, error.message),
        hint: "Start it with rules-compiler serve, or name its port or URL: status http://192.0.2.7:5000",
      }),
    ]);
  }
}

function healthIn(text: string): ServerHealth | undefined {
  try {
    const health = JSON.parse(text) as Partial<ServerHealth> | null;
    return typeof health?.status === "string" && typeof health.reason === "string"
      ? (health as ServerHealth)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Prints what the server said as JSON, with every character escaped that a terminal could obey. */
export async function sendHealth(health: ServerHealth, host: Host): Promise<void> {
  const text = JSON.stringify(health, undefined, 2).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  await sendToOutput(`${text}\n`, host);
}

const REASONS: Readonly<Record<number, string>> = {
  421: "it does not know this host name; start it with SERVE_HOSTNAME=NAME, or ask by its IP address",
};

/** The error for a server that is unhealthy, or not one of ours. */
export function unhealthy(where: string, { status, health }: HealthAnswer): CompilerError {
  return new CompilerError([
    errorOf("health-failed", `The server ${where} is unhealthy`, {
      cause: printable(
        health?.reason ?? REASONS[status] ?? `the response has status ${status}`,
        200,
      ),
    }),
  ]);
}
