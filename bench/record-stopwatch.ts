/**
 * Loaded before the program (`node --import`). Writes the milliseconds that the record and the whole run took to STOPWATCH_FILE.
 * Both are from one run, because two runs of a second differ by more than a record costs.
 */
import { writeFileSync } from "node:fs";
import process from "node:process";

/** A class of the built program, which may not exist when types are checked. */
async function classOf(file: string, name: string): Promise<{ prototype: object }> {
  const module = (await import(new URL(`../dist/${file}`, import.meta.url).href)) as object;
  return (module as Record<string, { prototype: object }>)[name]!;
}

const RecordWriter = await classOf("record/record-writer.js", "RecordWriter");
const RecordFile = await classOf("record/record-file.js", "RecordFile");

let spent = 0;

type Method = (...words: unknown[]) => unknown;

function time(prototype: object, name: string): void {
  const methods = prototype as Record<string, Method>;
  const original = methods[name]!;
  methods[name] = function timed(this: unknown, ...words: unknown[]): unknown {
    const began = performance.now();
    const result = original.apply(this, words);
    const stop = (): void => void (spent += performance.now() - began);
    if (result instanceof Promise) return result.finally(stop);
    stop();
    return result;
  };
}

// The writer calls the file's `write`, which must not be counted twice.
for (const name of ["take", "end"]) time(RecordWriter.prototype, name);
for (const name of ["open", "finish", "close"]) time(RecordFile.prototype, name);

process.on("exit", () => {
  writeFileSync(
    process.env["STOPWATCH_FILE"]!,
    JSON.stringify({ recordMilliseconds: spent, milliseconds: performance.now() }),
  );
});
