import { Exit } from "../../diagnostics/exit.ts";
import { printable } from "../../diagnostics/printable.ts";
import { askHealth, sendHealth, unhealthy } from "../ask-health.ts";
import { portOf } from "../flags/serve-options.ts";
import type { Command } from "./registry.ts";

/** The health check of a container, which may not have curl. */
export const healthCommand: Command = async (options, host, reporter, signal) => {
  const port = portOf(options.args, host.env);
  const answer = await askHealth(`http://127.0.0.1:${port}/health`, host, signal);
  const { status, health } = answer;
  if (options.json && health !== undefined) await sendHealth(health, host);
  if (status !== 200 || health === undefined) throw unhealthy(`on port ${port}`, answer);
  reporter.info(`${reporter.style.good(printable(health.status))}: ${printable(health.reason)}`);
  return Exit.Done;
};
