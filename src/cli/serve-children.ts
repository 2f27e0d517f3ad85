import {
  CompilerError,
  type Diagnostic,
  errorOf,
  locationText,
} from "../diagnostics/diagnostic.ts";
import type { Explanation, LineFate, LineLocation } from "../explain/why.ts";
import type { Host } from "../host/host.ts";
import type { ActionEnd, ActionsOptions } from "../server/actions.ts";
import type { Problem } from "../server/history.ts";
import type { WhyOfList, WhyOptions } from "../server/why-answers.ts";
import { type Args, wordsFor } from "./flags/args.ts";
import type { Options } from "./flags/options.ts";

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
    if (stdout.trim() !== "" && exit !== undefined) return answersIn(stdout, list ?? lists[0]!);
    const [first] = problems;
    if (first === undefined)
      throw new CompilerError([errorOf("record-missing", "why ended without an answer")]);
    return (list === undefined ? lists : [list]).map((one) => ({
      list: one,
      problem: short(first),
    }));
  };
}

function short({ code, message }: Problem): Pick<Problem, "code" | "message"> {
  return { code, message };
}

function onlyList(args: Args, list: string): Args {
  return { ...args, values: new Map(args.values).set("filter", [list]) };
}

interface PrintedAnswer {
  readonly list: string;
  readonly names?: readonly PrintedName[];
  readonly diagnostics?: readonly Problem[];
}

type PrintedName = Explanation & { readonly list: string };

/** What `why` printed: one document per name for a single list, or one document for several. */
function answersIn(stdout: string, only: string): WhyOfList[] {
  const documents = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as PrintedName | { readonly lists: readonly PrintedAnswer[] });
  const [first] = documents;
  if (first === undefined || !("lists" in first))
    return [{ list: only, names: (documents as PrintedName[]).map(openTo) }];
  return first.lists.map(({ list, names, diagnostics = [] }) => {
    const [problem = { code: "record-missing", message: "No record" }] = diagnostics;
    return names === undefined
      ? { list, problem: short(problem) }
      : { list, names: names.map(openTo) };
  });
}

/** An explanation that anyone may read: without paths of this machine. */
function openTo({ list: _file, ...explanation }: PrintedName): Explanation {
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
