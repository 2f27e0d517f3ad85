import { spawnSync } from "node:child_process";

/** The cost of one run of a command, measured by GNU time. */
export interface Cost {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

/** Exit codes of a list that was published, completely or without an optional source. */
const PUBLISHED = new Set([0, 3]);

/** Runs a command to its end. Throws its output if it fails. */
export function measure(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Cost {
  const result = spawnSync("/usr/bin/time", ["-f", "\n%e %U %S %M", ...command], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  });
  if (result.error !== undefined) throw new Error(`GNU time is needed: ${result.error.message}`);
  if (!PUBLISHED.has(result.status!))
    throw new Error(
      `${command.slice(0, 3).join(" ")} … ended in ${result.status}: ${result.stderr}`,
    );
  const [wall, user, system, kilobytes] = result.stderr
    .trim()
    .split("\n")
    .at(-1)!
    .split(" ")
    .map(Number);
  return { wallSeconds: wall!, cpuSeconds: user! + system!, peakMegabytes: kilobytes! / 1024 };
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** Medians of interleaved runs, so that a busy moment affects all commands alike. */
export function interleaved(
  commands: Readonly<Record<string, () => Cost>>,
  runs: number,
): Record<string, Cost> {
  const costs = new Map<string, Cost[]>(Object.keys(commands).map((name) => [name, []]));
  for (let run = 0; run < runs; run++)
    for (const [name, command] of Object.entries(commands)) costs.get(name)!.push(command());
  return Object.fromEntries(
    Array.from(costs, ([name, list]) => [
      name,
      {
        wallSeconds: median(list.map(({ wallSeconds }) => wallSeconds)),
        cpuSeconds: median(list.map(({ cpuSeconds }) => cpuSeconds)),
        peakMegabytes: median(list.map(({ peakMegabytes }) => peakMegabytes)),
      },
    ]),
  );
}

/** Medians of wall time in milliseconds, for commands that are too short for GNU time. */
export function interleavedMilliseconds(
  commands: Readonly<Record<string, readonly string[]>>,
  runs: number,
): Record<string, number> {
  const times = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
  for (let run = 0; run < runs; run++) {
    for (const [name, [program, ...words]] of Object.entries(commands)) {
      const start = performance.now();
      spawnSync(program!, words);
      times.get(name)!.push(performance.now() - start);
    }
  }
  return Object.fromEntries(Array.from(times, ([name, list]) => [name, Math.round(median(list))]));
}
