import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { reasonOf } from "../../diagnostics/reason.ts";
import { fetchBody } from "../../host/fetch-body.ts";
import { type Host, HostError } from "../../host/host.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { portOf } from "../flags/serve-options.ts";
import type { Command } from "./registry.ts";

const TIMEOUTS = { connectMs: 3000, headersMs: 3000, idleMs: 3000, totalMs: 5000 };

/** The health check of a container, which may not have curl. */
export const healthCommand: Command = async (options, host, reporter, signal) => {
  const port = portOf(options.args, host.env);
  const { status, text } = await ask(`http://127.0.0.1:${port}/health`, host, signal);
  if (options.json && text !== "") await sendToOutput(text, host);
  const health = healthIn(text);
  if (status === 200 && health !== undefined) {
    reporter.info(`${reporter.style.good(printable(health.status))}: ${printable(health.reason)}`);
    return Exit.Done;
  }
  throw new CompilerError([
    errorOf("health-failed", `The server on port ${port} is unhealthy`, {
      cause: printable(health?.reason ?? `the response has status ${status}`, 200),
    }),
  ]);
};

/** Undefined if another program answers on that port. */
function healthIn(text: string): { status: string; reason: string } | undefined {
  try {
    const { status, reason } = JSON.parse(text) as { status?: unknown; reason?: unknown };
    return typeof status === "string" && typeof reason === "string"
      ? { status, reason }
      : undefined;
  } catch {
    return undefined;
  }
}

async function ask(
  url: string,
  host: Host,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const headers = { accept: "application/json" };
  const limits = { timeouts: TIMEOUTS, maxBytes: 16 * 1024 * 1024, onlyPublic: false };
  // An unhealthy server responds with a status other than 200.
  const takesAnyStatus = true;
  try {
    const { status, body } = await fetchBody(
      { url, headers, ...limits, takesAnyStatus, signal },
      host,
    );
    return { status, text: new TextDecoder().decode(body) };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("health-failed", `No server responds at ${url}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
