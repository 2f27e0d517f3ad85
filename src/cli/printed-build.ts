import { distinctNames } from "../diagnostics/distinct-names.ts";
import type { SuccessfulBuild } from "../server/history.ts";
import type { RunResult } from "../server/runner.ts";

type PrintedBuild = SuccessfulBuild & {
  readonly diagnostics: unknown;
  readonly held?: true;
  readonly resolvers?: unknown;
};

/** The report that a run printed. Reports of several lists are combined into one. */
export function printedBuild(stdout: string, name: string): Pick<RunResult, "build" | "isHeld"> {
  const said = JSON.parse(stdout) as
    | Partial<PrintedBuild>
    | { readonly lists: readonly Partial<PrintedBuild>[] };
  const isOne = !Array.isArray((said as { lists?: unknown }).lists);
  const printed = isOne
    ? [said as Partial<PrintedBuild>]
    : (said as { readonly lists: readonly Partial<PrintedBuild>[] }).lists;
  const isHeld = printed.length > 0 && printed.every(({ held }) => held === true);
  const builds = printed
    .filter((one): one is PrintedBuild => "sources" in one)
    .map(({ diagnostics: _said, held, resolvers: _asked, ...build }) =>
      // A held list has the report of an earlier run, which another run cannot improve.
      held === true ? { ...build, degraded: false } : build,
    );
  if (builds.length === 0) return { isHeld };
  const build = isOne ? builds[0]! : together(builds, name);
  return { isHeld, build: { ...build, sources: withOwnLabels(build.sources) } };
}

/** The totals of several lists. A source in several lists counts once. */
function together(builds: readonly SuccessfulBuild[], name: string): SuccessfulBuild {
  const sum = (figure: (build: SuccessfulBuild) => number): number =>
    builds.reduce((total, build) => total + figure(build), 0);
  const sources = new Map(builds.flatMap((build) => build.sources).map((one) => [one.label, one]));
  return {
    ...builds[0]!,
    name,
    lists: builds.map(({ name: list, rules, outputs }) => ({
      name: list,
      file: outputs[0]?.file ?? "",
      rules,
    })),
    rules: sum(({ rules }) => rules),
    bytes: sum(({ bytes }) => bytes),
    lines: sum(({ lines }) => lines),
    kept: sum(({ kept }) => kept),
    degraded: builds.some(({ degraded }) => degraded),
    sources: [...sources.values()],
    outputs: builds.flatMap(({ outputs }) => outputs),
  };
}

/** Makes labels unique, because metrics and states are stored by label. */
function withOwnLabels(sources: SuccessfulBuild["sources"]): SuccessfulBuild["sources"] {
  const labels = distinctNames(sources.map(({ label }) => label));
  return sources.map((source, index) => ({ ...source, label: labels[index]! }));
}
