import { CompilerError, type Diagnostic, errorOf, locationText } from "../diagnostics/render.ts";
import { distinctNames } from "../diagnostics/text.ts";
import type { BuildDocument, BuiltList, WhyDocument } from "../documents/documents.ts";
import type {
  AnsweredName,
  CompileReport,
  LineFate,
  LineLocation,
  Problem,
  WhyOfList,
} from "../documents/facts.ts";
import type { Host } from "../host/host.ts";
import type { ActionEnd, ActionsOptions } from "../server/actions.ts";
import type { SuccessfulBuild } from "../server/history.ts";
import type { RunResult } from "../server/runs.ts";
import type { WhyOptions } from "../server/why.ts";
import { type Args, type Options, wordsFor } from "./flags/options.ts";

/** More text than any name needs. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/** A problem that a child process printed. */
export function problemIn(line: string): Problem & { severity: string; news?: boolean } {
  try {
    const { at, ...said } = JSON.parse(line) as Diagnostic;
    return at === undefined ? said : { ...said, at: locationText(at) };
  } catch {
    return { severity: "error", code: "said", message: line };
  }
}

/** Not one that the server already reported at startup. */
export function isNew({ code }: Problem): boolean {
  return code !== "environment-ignored";
}

/** Rolls back, holds or ends a hold in a child process, like the commands that a user would type. */
export function actApart(options: Options, host: Host): ActionsOptions["act"] {
  return async ({ action, list, build, end, from }, signal): Promise<ActionEnd> => {
    const words = [
      action,
      "--json",
      `--by=serve for ${from}`,
      ...wordsFor(action, onlyList(options.args, list)),
      ...(end ? ["--end"] : []),
      ...(build === undefined ? [] : [build]),
    ];
    const problems: ActionEnd["problems"][number][] = [];
    const onLine = (line: string): void => {
      const problem = problemIn(line);
      if (problem.severity !== "debug") problems.push(problem);
    };
    const { exit } = await host.runSelf!({ words, signal, onLine });
    return { exit, problems: problems.filter(isNew) };
  };
}

/** Answers a question about a name in a child process, like `why`. */
export function whyApart(
  lists: readonly string[],
  options: Options,
  host: Host,
): WhyOptions["answer"] {
  return async ({ name, list, resolver }, signal) => {
    const words = [
      "why",
      "--json",
      ...wordsFor("why", list === undefined ? options.args : onlyList(options.args, list)),
      ...(resolver === undefined ? [] : [`--resolver=${resolver}`]),
      "--",
      name,
    ];
    const problems: Problem[] = [];
    const onLine = (line: string): void => {
      const problem = problemIn(line);
      if (problem.severity === "error") problems.push(problem);
    };
    const limits = { maxBytes: MOST_ANSWER_BYTES, isBackground: true };
    const { exit, stdout } = await host.runSelf!({ words, signal, onLine, ...limits });
    if (stdout.trim() !== "" && exit !== undefined)
      return answersIn(JSON.parse(stdout) as WhyDocument);
    const [first] = problems;
    if (first === undefined)
      throw new CompilerError([errorOf("record-missing", "why ended without an answer")]);
    return (list === undefined ? lists : [list]).map((one) => ({
      list: one,
      problem: short(first),
    }));
  };
}

function short({
  code,
  message,
}: Pick<Problem, "code" | "message">): Pick<Problem, "code" | "message"> {
  return { code, message };
}

function onlyList(args: Args, list: string): Args {
  return { ...args, values: new Map(args.values).set("filter", [list]) };
}

/** The answers of `why`. */
function answersIn({ lists }: WhyDocument): WhyOfList[] {
  return lists.map((one) => {
    const { list } = one;
    if ("names" in one) return { list, names: one.names.map(openTo) };
    const [problem = { code: "record-missing", message: "No record" }] = one.diagnostics;
    return { list, problem: short(problem) };
  });
}

/** An explanation that anyone may read: without paths of this machine. */
function openTo(explanation: AnsweredName): AnsweredName {
  const { rule, partial, lines } = explanation;
  return {
    ...explanation,
    ...(rule && { rule: bare(rule) }),
    partial: partial.map(bare),
    lines: lines.map(({ by, ...line }): LineFate => {
      return { ...bare(line), ...(by && { by: bare(by) }) };
    }),
  };
}

function bare<T extends LineLocation>({ path: _path, ...location }: T): Omit<T, "path"> {
  return location;
}

type ListFigures = NonNullable<SuccessfulBuild["lists"]>[number];

type ReportedList = BuiltList & Omit<CompileReport, "name">;

/** The build of a run: the totals of its lists. */
export function buildIn(
  { lists }: BuildDocument,
  name: string,
): Pick<RunResult, "build" | "isHeld"> {
  const isHeld = lists.length > 0 && lists.every(({ status }) => status === "held");
  const builds = lists
    .filter((one): one is ReportedList => one.sources !== undefined)
    // A held list has the report of an earlier run, which another run cannot improve.
    .map((one) => (one.status === "held" ? { ...one, degraded: false } : one));
  const [first] = builds;
  if (first === undefined) return { isHeld };
  const build = {
    ...totals(builds),
    ...(lists.length > 1 ? { name, lists: builds.map(listFigures) } : { name: first.list }),
  };
  return { isHeld, build: { ...build, sources: withOwnLabels(build.sources) } };
}

/** The totals of several lists. A source in several lists counts once. */
function totals(builds: readonly ReportedList[]): Omit<SuccessfulBuild, "name" | "lists"> {
  const sum = (figure: (build: ReportedList) => number): number =>
    builds.reduce((total, build) => total + figure(build), 0);
  const sources = new Map(builds.flatMap((build) => build.sources).map((one) => [one.label, one]));
  return {
    rules: sum(({ rules }) => rules),
    bytes: sum(({ bytes }) => bytes),
    lines: sum(({ lines }) => lines),
    kept: sum(({ kept }) => kept),
    degraded: builds.some(({ degraded }) => degraded),
    sources: builds.length === 1 ? builds[0]!.sources : [...sources.values()],
    outputs: builds.flatMap(({ outputs }) => outputs),
  };
}

function listFigures({ list, rules, outputs }: ReportedList): ListFigures {
  return { name: list, file: outputs[0]?.file ?? "", rules };
}

/** Makes labels unique, because metrics and states are stored by label. */
function withOwnLabels(sources: SuccessfulBuild["sources"]): SuccessfulBuild["sources"] {
  const labels = distinctNames(sources.map(({ label }) => label));
  return sources.map((source, index) => ({ ...source, label: labels[index]! }));
}
