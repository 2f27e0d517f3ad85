import { CompilerError, type Diagnostic, locationText } from "../diagnostics/diagnostic.ts";
import type { Answerer, Host, ListenAddress, WebReply } from "../host/host.ts";
import type { EventLog } from "./event-log.ts";
import { healthOf } from "./health.ts";
import { NO_HISTORY } from "./history.ts";
import { openPort } from "./open-port.ts";
import { jsonReply } from "./replies.ts";

/** How often a missing configuration is looked for. */
const POLL_MS = 2000;

export interface WaitSettings {
  readonly host: Host;
  readonly log: EventLog;
  readonly listenOn: ListenAddress;
  readonly signal: AbortSignal;
}

/**
 * What `open` resolves to, and a host to listen with. While there is no configuration, all requests are answered with 503 and the reason, so that a
 * container that has none yet is unhealthy and is not restarted for ever. Undefined if the signal came first. Other errors at the first try are the caller's.
 */
export async function waitForConfig<T>(
  open: () => Promise<T>,
  { host, log, listenOn, signal }: WaitSettings,
): Promise<{ readonly opened: T; readonly host: Host } | undefined> {
  let problem: Diagnostic;
  try {
    return { opened: await open(), host };
  } catch (error) {
    problem = problemOf(error);
    if (problem.code !== "config-not-found") throw error;
  }
  let answer: Answerer = () => notReady(problem);
  const listening = await openPort(listenOn, host, (request) => answer(request));
  host.onHangup?.(() => {});
  const { address, port } = listening;
  const report = (): void => {
    const { code, message, at, hint } = problem;
    log.write("error", "waiting", {
      address,
      port,
      code,
      message,
      at: at && locationText(at),
      hint,
    });
  };
  report();
  while (!signal.aborted) {
    await host.wait(POLL_MS, signal);
    try {
      const opened = await open();
      const listen: Host["listen"] = (_, next) => {
        answer = next;
        return Promise.resolve(listening);
      };
      return { opened, host: { ...host, listen } };
    } catch (error) {
      const { message } = problem;
      problem = problemOf(error);
      if (problem.message !== message) report();
    }
  }
  await listening.close();
  log.write("info", "stopped");
  return undefined;
}

function problemOf(error: unknown): Diagnostic {
  if (!(error instanceof CompilerError)) throw error;
  return error.diagnostics[0]!;
}

function notReady({ code, message, hint, at }: Diagnostic): WebReply {
  const problem = { code, message, ...(hint && { hint }), ...(at && { at: locationText(at) }) };
  const nothing = { history: NO_HISTORY, now: 0, limitMs: 0, missing: [], isRunning: false };
  const health = healthOf({ ...nothing, next: undefined });
  return jsonReply(503, { ...health, reason: message, lastProblem: problem, problems: [problem] });
}
