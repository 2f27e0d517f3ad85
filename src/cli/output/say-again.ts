import type { LastBuild } from "../../build/last-build.ts";
import { isFlawless } from "../../engine/report.ts";
import { Exit } from "../../diagnostics/exit.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import type { Talk } from "./talk.ts";

/** Says what the last build said: nothing has changed since. */
export async function sayAgain(
  last: LastBuild,
  started: number,
  options: Options,
  host: Host,
  talk: Talk,
): Promise<Exit> {
  talk.debug("compile: skipped, nothing changed since the last build");
  for (const diagnostic of last.diagnostics) talk.diagnostic(diagnostic);
  const written = (last.written ?? []).map((one) => ({ ...one, outcome: "unchanged" as const }));
  const seconds = (host.now().getTime() - started) / 1000;
  if (options.json || talk.says("info")) {
    const { sayResult } = await import("./say-result.ts");
    const files = last.outputs.map(({ name }) => name);
    await sayResult({ ...last, files }, written, seconds, undefined, options, host, talk);
  }
  return options.strict && !isFlawless(last.report) ? Exit.Degraded : Exit.Done;
}
