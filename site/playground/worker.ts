import { CompilerError } from "../../src/diagnostics/render.ts";
import type { Answer, Call } from "./calls.ts";
import { problemOf } from "./list-view.ts";
import { Session } from "./session.ts";

/** Answers the calls of the page, one after the other. */
const session = new Session();
let last: Promise<void> = Promise.resolve();

const calls = session as unknown as Record<string, (...args: readonly unknown[]) => unknown>;

async function answer({ id, name, args }: Call): Promise<void> {
  const reply: Answer = await Promise.resolve()
    .then(async () => ({ id, value: await calls[name]!.apply(session, [...args]) }))
    .catch((error: unknown) => ({
      id,
      problems:
        error instanceof CompilerError
          ? error.diagnostics.map(problemOf)
          : [{ severity: "error" as const, code: "bug", message: String(error) }],
    }));
  postMessage(reply);
}

/** Compiles a line before the first list arrives, so that the engine is ready for it. */
async function warmUp(): Promise<void> {
  const other = new Session();
  const blob = new Blob(["||ads.example.com^\n"]);
  const { config } = await other.add([{ name: "first.txt", blob }]);
  await other.compile(config);
}

last = warmUp().catch(() => {});

addEventListener("message", ({ data }: MessageEvent<Call>) => {
  last = last.then(async () => await answer(data));
});
