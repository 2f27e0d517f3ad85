import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { printable, withoutCredentials } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import { askHealth, sendHealth, unhealthy } from "../ask-health.ts";
import type { Options } from "../flags/options.ts";
import { portOf } from "../flags/serve-options.ts";
import { showText } from "../output/show-text.ts";
import { statusText } from "../output/status-text.ts";
import { columnsOf } from "../output/text-width.ts";
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

/** The address of the server, without a slash at the end. Throws a `CompilerError`. */
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
    errorOf("unknown-flag", `status takes the URL of a server, not ${shown}`, {
      hint: "Such as http://192.0.2.7:5000, without a password or a query",
    }),
  ]);
}
