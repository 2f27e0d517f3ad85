import type { TestEvent } from "node:test/reporters";

interface Figure {
  readonly file: string;
  readonly said: string;
}

/** A reporter for `node --test`: what tests say about what they found, as JSON. docs/guide/reliability.md is made from it. */
// oxlint-disable-next-line no-default-export -- node takes nothing else
export default async function* figuresReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const figures: Figure[] = [];
  for await (const { type, data } of events) {
    if (type !== "test:diagnostic" || data.file === undefined) continue;
    const file = data.file.replace(/^.*\/slow\//, "");
    // The summary at the end is node's own.
    if (file.endsWith(".test.ts")) figures.push({ file, said: data.message });
  }
  yield `${JSON.stringify(figures, undefined, 2)}\n`;
}
