import type { TestEvent } from "node:test/reporters";

/** What a test file said, in one run. */
export interface Figure {
  readonly file: string;
  readonly said: string;
}

/** A reporter for `node --test` that collects the diagnostics of tests as JSON, for docs/guide/evidence.md. */
// oxlint-disable-next-line no-default-export -- Node requires it
export default async function* figuresReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const figures: Figure[] = [];
  for await (const { type, data } of events) {
    if (type !== "test:diagnostic" || data.file === undefined) continue;
    const file = data.file.replace(/^.*\/test\//, "test/");
    // Skip Node's own summary at the end.
    if (file.endsWith(".test.ts")) figures.push({ file, said: data.message });
  }
  yield `${JSON.stringify(figures, undefined, 2)}\n`;
}
