import type { HeldList, Problem } from "../documents/facts.ts";
import { Exit } from "../diagnostics/codes.ts";
import type { Host, WebReply } from "../host/host.ts";
import { type ActionRequest, jsonReply, textReply } from "./requests.ts";
import { type Runner, withDeadline } from "./runs.ts";
import type { EventLog } from "./serve.ts";

/** How an action ended. */
export interface ActionEnd {
  /** Exit code; undefined if a signal ended the process. */
  readonly exit: number | undefined;
  readonly problems: readonly (Problem & { readonly severity: string })[];
}

export interface ActionsOptions {
  readonly host: Host;
  readonly log: EventLog;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Does it in a child process. */
  act(request: ActionRequest, signal: AbortSignal): Promise<ActionEnd>;
  /** Called after an action; returns the held lists. */
  onDone(): Promise<readonly HeldList[]>;
}

const MOST_WAITING = 8;
/** A client does not wait longer than this for an action that waits behind a run. */
const PATIENCE_MS = 45_000;

const STATUS: Readonly<Record<number, number>> = {
  [Exit.Done]: 200,
  [Exit.Degraded]: 200,
  [Exit.Usage]: 400,
  [Exit.Locked]: 409,
};

/** Rolls back, holds and ends holds on request, one after the other and never during a run. */
export class Actions {
  private readonly options: ActionsOptions;
  private waiting = 0;

  constructor(options: ActionsOptions) {
    this.options = options;
  }

  async answer(request: ActionRequest, runner: Runner): Promise<WebReply> {
    const { host } = this.options;
    if (this.waiting >= MOST_WAITING)
      return textReply(503, "Too many requests are waiting\n", { "retry-after": "10" });
    this.waiting++;
    const done = runner.alone(() => this.once(request)).finally(() => this.waiting--);
    const given = new AbortController();
    const patience = host.wait(PATIENCE_MS, given.signal).then(() => undefined);
    try {
      const { action, list } = request;
      const queued = { action, list, state: "queued" };
      return (await Promise.race([done, patience])) ?? jsonReply(202, queued);
    } finally {
      given.abort();
    }
  }

  /** Never rejects: the client may have been sent away, so the log must have how it ended. */
  private async once(request: ActionRequest): Promise<WebReply> {
    const { log, signal, timeoutMs } = this.options;
    const { action, list, build, from } = request;
    let held: readonly HeldList[] = [];
    let value: ActionEnd | undefined;
    let isLate = false;
    let lost: ActionEnd["problems"] = [];
    try {
      ({ value, isLate } = await withDeadline(timeoutMs, signal, (until) =>
        this.options.act(request, until),
      ));
      held = await this.options.onDone();
    } catch (error) {
      lost = [{ severity: "error", code: "not-run", message: (error as Error).message }];
    }
    const exit = value?.exit;
    const isDone = lost.length === 0 && (exit === Exit.Done || exit === Exit.Degraded);
    const problems = [...lost, ...(value?.problems ?? [])];
    const { code, message } = problems.find(({ severity }) => severity === "error") ?? {};
    const reason = isLate ? "run-timeout" : code;
    const fields = { action, list, build, from, exit, reason, message };
    log.write(isDone ? "info" : "error", "action", fields);
    const status = lost.length > 0 ? 500 : (STATUS[exit ?? -1] ?? 500);
    return jsonReply(status, {
      action,
      list,
      exit: exit ?? null,
      held: held.find((one) => one.list === list) ?? null,
      problems,
    });
  }
}
