/** For an address of the hostile server: compiles twenty sources of which one misbehaves, for every misbehaviour and every place; says how it went as JSON. */
import process from "node:process";
import { CompilerError, compile, nodeHost } from "./internals.ts";
import { inParallel } from "./command.ts";
import { MISBEHAVIOURS, goodUrl, hostileUrl } from "./hostile-server.ts";

const SOURCES = 20;
const DEADLINE_MS = 1500;

const base = process.argv[2]!;
const runs = Object.keys(MISBEHAVIOURS).flatMap((what) =>
  Array.from({ length: SOURCES }, (_, place) => ({ what, place })),
);
const problems: string[] = [];
const states: Record<string, string> = {};
let slowest = 0;
let done = 0;
// More at a time block the event loop for longer than the limits of a source.
await inParallel(runs, 4, async ({ what, place }) => {
  const sources = Array.from({ length: SOURCES }, (_, index) => ({
    source: index === place ? hostileUrl(base, what) : goodUrl(base, `n${index}.example`),
    allow_private: true,
    required: false,
  }));
  const started = performance.now();
  try {
    const result = await compile(
      { name: "n", sources },
      {
        host: nodeHost(),
        fetchLimits: {
          sourceMs: DEADLINE_MS,
          timeouts: { connectMs: 400, headersMs: 600, idleMs: 600, totalMs: 1200 },
          retries: 1,
          pauseMs: 20,
          maxBytes: 32 << 20,
        },
      },
    );
    result.close();
    const text = new TextDecoder().decode(result.bytes);
    for (let index = 0; index < SOURCES; index++)
      if (index !== place && !text.includes(`||n${index}.example^`))
        problems.push(`${what} at ${place}: source ${index} is missing`);
    const state = result.report.sources[place]!.state;
    if ((states[what] ??= state) !== state) problems.push(`${what}: ${states[what]} and ${state}`);
  } catch (error) {
    const reason = error instanceof CompilerError ? error.message : String((error as Error).stack);
    problems.push(`${what} at ${place}: ${reason}`);
  }
  const took = performance.now() - started;
  slowest = Math.max(slowest, took);
  // The deadline, and what a busy machine adds.
  if (took > DEADLINE_MS + 3000) problems.push(`${what} at ${place}: ${took.toFixed(0)} ms`);
  done++;
});
const accepted = Object.keys(states).filter((what) => states[what] !== "dropped");
const { maxRSS } = process.resourceUsage();
process.stdout.write(
  JSON.stringify({
    runs: done,
    misbehaviours: Object.keys(MISBEHAVIOURS).length,
    accepted,
    slowest: Math.round(slowest),
    peakMegabytes: Math.round(maxRSS / 1024),
    problems,
  }),
);
