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
export function startWorker(source: string): Calls {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(url);
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const id = ++last;
    const message: Call = { id, name, args };
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
      worker.postMessage(message);
    });
    if (answer.problems !== undefined) throw new PageError(answer.problems);
    return answer.value;
  };
  return new Proxy({} as Calls, {
    get:
      (_, name) =>
      async (...args: readonly unknown[]) =>
        await call(String(name), args),
  });
}
