import type { Decision, DecisionUse, Explanation, NotApplied } from "../documents/facts.ts";
import { encodeUtf8 } from "../bytes/text.ts";
import {
  DECISIONS_FILE,
  DECISIONS_HEAD,
  activeDecisions,
  decisionLine,
  decisionsIn,
  decisionsText,
  endOf,
  readDecision,
  readDecisions,
  untilText,
} from "../config/decisions.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf as causeOf, shellWord } from "../diagnostics/text.ts";
import { slugOf } from "../engine/plan.ts";
import { type ListChange, listChange } from "../explain/list-change.ts";
import { askedName } from "../explain/traffic.ts";
import { writeWhole } from "../host/files.ts";
import { type Host, HostError, ReadOnce } from "../host/host.ts";
import { OutputLock } from "../publish/list-file.ts";
import { type BuildContext, type BuildOutcome, build } from "./build.ts";
import { listFiles } from "./plan/list-plan.ts";
import { type ListConfig, type Project, isCalled, openProject } from "./plan/project.ts";
import { isTextLost } from "./publish/publish-list.ts";
import { lastList, publishedState } from "./state/kept-builds.ts";

/** What to decide about names. */
export interface DecisionRequest {
  readonly verdict: Decision["verdict"];
  /** Names, URLs or rules. Without any, the result has the decisions that hold. */
  readonly names: readonly string[];
  /** Only the names themselves, without those below them. */
  readonly exact?: boolean;
  readonly reason?: string | undefined;
  readonly reference?: string | undefined;
  /** A date, or a duration such as `7d`. */
  readonly until?: string | undefined;
  /** Removes the decisions instead. */
  readonly remove?: boolean;
}

/** What became of decisions. */
export interface DecisionResult {
  /** The decisions about these names now; those that were removed, after `remove`. */
  readonly decisions: readonly Decision[];
  /** @internal The earlier decisions that they replace. */
  readonly replaced: readonly Decision[];
  /** Whether all lists are built again. If not, the next build applies the decisions. */
  readonly isApplied: boolean;
  /** Why not, if they are not. */
  readonly notApplied?: NotApplied;
  /** How the build ended; undefined if there was nothing to decide. */
  readonly outcome: BuildOutcome | undefined;
  /** Lists that were built again. */
  readonly lists: readonly DecidedList[];
}

/** What a decision changed in a list. */
export interface DecidedList {
  readonly list: string;
  readonly file: string;
  readonly change: ListChange;
  readonly names: readonly Explanation[];
}

/**
 * Writes decisions beside the configuration, and builds its lists again from the texts of the last publish, so that nothing else changes. If such a
 * text is lost, the next build applies the decisions. Rejects with a `CompilerError`.
 */
export async function decide(
  request: DecisionRequest,
  context: BuildContext,
): Promise<DecisionResult> {
  const { options, host } = context;
  const { project, lists } = await openProject(options, host);
  if (project.file === "")
    throw new CompilerError([
      errorOf("bad-decision", "Decisions need a configuration file", { hint: "Name it with -c" }),
    ]);
  if (request.names.length === 0) {
    const now = host.now().getTime();
    const decisions = (project.decisions ?? []).filter(
      (one) => one.verdict === request.verdict && endOf(one) > now,
    );
    return { decisions, replaced: [], isApplied: true, outcome: undefined, lists: [] };
  }
  const only = options.filter.length === 0 ? [undefined] : lists.map(slug);
  const wanted = only.flatMap((list) => requested(request, list, host.now()));
  const { decisions, replaced } = await edit(project, context, (text) =>
    request.remove === true ? without(text, wanted) : including(text, wanted),
  );
  const names = [...new Set(wanted.map(({ name }) => name))];
  const before = await Promise.all(lists.map(async (list) => await stateOf(list, context)));
  const built = {
    ...options,
    decided: (request.remove === true ? "removed: " : "") + wanted.map(decidedText).join("; "),
    configFile: new ReadOnce<Project>(options.configPath, host),
  };
  const outcome = await build({ ...context, options: built });
  const decided: DecidedList[] = [];
  for (const [index, list] of lists.entries()) {
    const found = outcome.lists.find((one) => one.list === list.config.name);
    const old = before[index];
    if (old === undefined || (found?.status !== "published" && found?.status !== "unchanged"))
      continue;
    const { name: file, build: last } = await lastList(list.config.name, options, host);
    const change = await listChange(old, (await stateOf(list, context))!);
    decided.push({ list: list.config.name, file, change, names: await last.why(...names) });
  }
  const isApplied = decided.length === lists.length;
  const why = !isApplied && { notApplied: reasonOf(outcome) };
  return { decisions, replaced, isApplied, ...why, outcome, lists: decided };
}

function reasonOf({ status, lists }: BuildOutcome): NotApplied {
  if (status === "interrupted") return "interrupted";
  // A list may be held, refused, or in the hands of another run.
  return lists.some(isTextLost) ? "text-lost" : "not-built";
}

/** The decisions that hold in a list now, and that it was built without: the next publish applies them. */
export async function waitingDecisions(
  list: string,
  applied: readonly DecisionUse[],
  { options, host }: Pick<BuildContext, "options" | "host">,
): Promise<Decision[]> {
  if (options.inputs.length > 0) return [];
  const folder = host.path.dirname(host.path.resolve(host.cwd, options.configPath));
  // The next build reports a line that is not a decision.
  const all = await decisionsIn(folder, host).catch((error: unknown): Decision[] => {
    if (error instanceof CompilerError) return [];
    throw error;
  });
  const active = activeDecisions(all, host.now().getTime(), (of) => isCalled(list, of));
  const isApplied = ({ verdict, name, exact }: Decision): boolean =>
    applied.some((one) => one.name === name && one.verdict === verdict && one.exact === exact);
  return active.filter((one) => !isApplied(one));
}

/** A decision as `log` shows it: when it began is the time of the entry. */
function decidedText({ since: _since, ...decision }: NewDecision): string {
  return decisionLine(decision);
}

function slug({ config }: ListConfig): string {
  return slugOf(config.name);
}

async function stateOf(
  { config }: ListConfig,
  { options, host }: BuildContext,
): Promise<Awaited<ReturnType<typeof publishedState>> | undefined> {
  const path = listFiles(config.name, options, host)[0]?.path;
  return path === undefined ? undefined : await publishedState(path, host);
}

type NewDecision = Omit<Decision, "file" | "line">;

/** Throws a `CompilerError` for what is not a name, a date or one line. */
function requested(
  { verdict, names, exact = false, reason, reference, until, remove }: DecisionRequest,
  list: string | undefined,
  now: Date,
): NewDecision[] {
  const end = until === undefined ? undefined : untilText(until, now);
  if (until !== undefined && end === undefined)
    throw refused(
      `--until ${printable(until, 40)} is not a later date or a duration such as 7d`,
      `Such as: rules-compiler ${verdict} ${printable(names[0]!, 253)} --until 7d`,
    );
  return names.map((name) => {
    const decision = {
      verdict,
      name: askedName(name),
      exact,
      ...(remove !== true && { since: now.toISOString().slice(0, 10) }),
      ...(end !== undefined && { until: end }),
      ...(list !== undefined && { list }),
      ...(reference !== undefined && { reference }),
      ...(reason !== undefined && { reason: reason.replaceAll(/\s+/g, " ").trim() }),
    };
    const read = readDecision(decisionLine(decision));
    if (!("problem" in read)) return read;
    const below = /^\*\.(?<parent>.+)$/.exec(decision.name)?.groups?.["parent"];
    throw refused(
      read.problem,
      below === undefined
        ? `Decide about a name: rules-compiler ${verdict} shop.example.com; a rule for anything else belongs to a list of your own`
        : `A name includes all below it: rules-compiler ${verdict} ${printable(below, 253)}`,
    );
  });
}

function refused(problem: string, hint: string): CompilerError {
  return new CompilerError([errorOf("bad-decision", `Invalid decision: ${problem}`, { hint })]);
}

interface Edited {
  readonly after: string;
  /** The decisions that others replace. */
  readonly replaced: readonly Decision[];
  readonly decisions: readonly Decision[];
}

/** Adds decisions. Each replaces those about the same names, in their place. */
function including(text: string, wanted: readonly NewDecision[]): Edited {
  const lines = linesOf(text === "" ? DECISIONS_HEAD : text);
  const replaced = readDecisions(text, DECISIONS_FILE).filter((other) =>
    wanted.some((one) => isAbout(one, other) && !isRepeated(one, other)),
  );
  for (const one of wanted) {
    const old = placesOf(lines, (other) => isAbout(one, other));
    const [first, ...others] = old;
    if (first === undefined) lines.push(decisionLine(one));
    else lines[first] = decisionLine(one);
    for (const index of others.toReversed()) lines.splice(index, 1);
  }
  const after = `${lines.join("\n")}\n`;
  const all = readDecisions(after, DECISIONS_FILE);
  const decisions = all.filter((one) => wanted.some((other) => isAbout(one, other)));
  return { after, replaced, decisions };
}

/** Whether a decision says what an earlier one says, from another day on. */
function isRepeated(one: NewDecision, { file: _file, line: _line, ...other }: Decision): boolean {
  return decidedText(one) === decidedText(other);
}

function without(text: string, wanted: readonly NewDecision[]): Edited {
  const lines = linesOf(text);
  const all = readDecisions(text, DECISIONS_FILE);
  const decisions: Decision[] = [];
  for (const one of wanted) {
    const old = placesOf(lines, (other) => isAbout(one, other) && other.verdict === one.verdict);
    if (old.length === 0) {
      const other = all.find(
        ({ name, verdict, list }) =>
          name === one.name && verdict === one.verdict && list !== one.list,
      );
      const where = one.list === undefined ? "" : ` in ${one.list}`;
      throw new CompilerError([
        errorOf("bad-decision", `There is no decision ${one.verdict} ${one.name}${where}`, {
          hint:
            other === undefined
              ? `rules-compiler ${one.verdict} --list shows the decisions`
              : other.list === undefined
                ? "There is one for all lists: remove it without --filter"
                : `There is one for the list ${printable(other.list)}: add --filter ${shellWord(printable(other.list))}`,
        }),
      ]);
    }
    decisions.push(...all.filter((other) => isAbout(one, other) && other.verdict === one.verdict));
    for (const index of old.toReversed()) lines.splice(index, 1);
  }
  return { after: lines.length === 0 ? "" : `${lines.join("\n")}\n`, replaced: [], decisions };
}

function linesOf(text: string): string[] {
  return text.replace(/(?:\r?\n|\r)$/, "").split(/\r\n|\r|\n/);
}

function placesOf(lines: readonly string[], isWanted: (one: NewDecision) => boolean): number[] {
  return lines.flatMap((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return [];
    const read = readDecision(line);
    return !("problem" in read) && isWanted(read) ? [index] : [];
  });
}

/** Whether a decision replaces another one. What is decided about the names below a name stays if only the name is decided otherwise. */
function isAbout(one: NewDecision, other: NewDecision): boolean {
  if (one.name !== other.name || one.list !== other.list) return false;
  return !one.exact || other.exact || one.verdict === other.verdict;
}

const TURN_MS = 50;
const MOST_TURNS = 200;

/** Edits the file alone: a decision that another run writes at the same time would get lost. */
async function edit(
  { folder }: Project,
  { host, signal }: BuildContext,
  change: (text: string) => Edited,
): Promise<Edited> {
  const path = host.path.join(folder, DECISIONS_FILE);
  try {
    const lock = await turnFor(path, host, signal);
    try {
      const edited = change(await decisionsText(folder, host));
      await writeWhole(path, host, (file) => file.write(encodeUtf8(edited.after)));
      return edited;
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const cause = causeOf(error.code, error.message);
    throw new CompilerError([
      errorOf("output-failed", `Cannot write ${DECISIONS_FILE}`, { cause }),
    ]);
  }
}

/** Waits for its turn. Rejects with a `CompilerError` if it does not come. */
async function turnFor(path: string, host: Host, signal: AbortSignal): Promise<OutputLock> {
  for (let turn = 1; ; turn++)
    try {
      return await OutputLock.take(path, host);
    } catch (error) {
      if (!(error instanceof CompilerError) || turn === MOST_TURNS || signal.aborted) throw error;
      await host.wait(TURN_MS, signal);
    }
}
