import type { Answer, Call, Problem } from "./calls.ts";
import type { Session } from "./session.ts";

/** Problems that the user can solve. */
export class PageError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ message }) => message).join("\n"));
    this.problems = problems;
  }
}

type Calls = {
  [Name in keyof Session]: Session[Name];
};

/** The session in the worker, with the same methods. The worker is made from a text in this page, so that its policy holds there, too. */
export class WorkerClient {
  readonly calls: Calls;
  private readonly url: string;
  private worker: Worker;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private last = 0;

  constructor(source: string) {
    this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.worker = this.started();
    this.calls = new Proxy({} as Calls, {
      get:
        (_, name) =>
        async (...args: readonly unknown[]) =>
          await this.call(String(name), args),
    });
  }

  /** Ends what the worker does, and starts another one, which knows no lists. Calls without an answer are rejected with these problems. */
  restart(problems: readonly Problem[]): void {
    this.worker.terminate();
    this.worker = this.started();
    for (const [id, answer] of this.waiting) answer({ id, problems });
    this.waiting.clear();
  }

  private started(): Worker {
    const worker = new Worker(this.url);
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      this.waiting.get(data.id)?.(data);
      this.waiting.delete(data.id);
    });
    return worker;
  }

  private async call(name: string, args: readonly unknown[]): Promise<unknown> {
    const id = ++this.last;
    const message: Call = { id, name, args };
    const answer = await new Promise<Answer>((resolve) => {
      this.waiting.set(id, resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
      this.worker.postMessage(message);
    });
    if (answer.problems !== undefined) throw new PageError(answer.problems);
    return answer.value;
  }
}
