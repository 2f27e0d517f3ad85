import {
  type FetchRequest,
  type FetchResponse,
  type Host,
  HostError,
  memoryHost,
} from "./internals.ts";

export type Answer =
  | string
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
    }
  | { readonly error: string };

/** A host in memory whose web answers as told, and whose clock stands where it is put. */
export class ScriptedWeb {
  readonly asked: FetchRequest[] = [];
  readonly waits: number[] = [];
  time: Date = new Date("2026-01-01T00:00:00Z");
  /** What an address answers; a list of answers is used up one by one, the last stays. */
  readonly answers: Record<
    string,
    Answer | Answer[] | ((request: FetchRequest) => Promise<Answer>)
  > = {};
  readonly host: Host;

  constructor(files: Record<string, string> = {}, isTerminal = false) {
    const memory = memoryHost({ files, ...(isTerminal && { isTerminal, env: { CI: "true" } }) });
    this.host = {
      ...memory,
      now: () => this.time,
      wait: async (ms, signal) => {
        this.waits.push(ms);
        if (signal?.aborted !== true) await new Promise((turned) => setTimeout(turned, 0));
      },
      fetch: (request) => this.fetch(request),
    };
  }

  private async fetch(request: FetchRequest): Promise<FetchResponse> {
    // As the real one does.
    if (request.signal?.aborted === true) throw new HostError("ECANCELED", "the run was stopped");
    this.asked.push(request);
    const script = this.answers[request.url];
    let answer: Answer | undefined;
    if (typeof script === "function") answer = await script(request);
    else if (Array.isArray(script)) answer = script.length > 1 ? script.shift() : script[0];
    else answer = script;
    if (answer === undefined) throw new HostError("ECONNREFUSED", "connection refused");
    if (typeof answer === "string") answer = { body: answer };
    if ("error" in answer) throw new HostError(answer.error, answer.error.toLowerCase());
    const { status = 200, headers = {}, body = "" } = answer;
    if (status === 200)
      request.take(typeof body === "string" ? new TextEncoder().encode(body) : body);
    return { status, headers };
  }
}
