import {
  BUILD,
  type KeptState,
  buildNamed,
  keptChange,
  lastBuild,
  listNames,
  openRanks,
} from "../../library/programs.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable, reasonOf, someOf } from "../../diagnostics/text.ts";
import type { DiffOfList } from "../../documents/documents.ts";
import { type Host, HostError } from "../../host/host.ts";
import { type ListAnswer, answerLists, changeExit } from "../answers.ts";
import type { Options } from "../flags/options.ts";
import { changeJson, changeLines } from "../output/change-text.ts";
import type { Reporter } from "../output/reporter.ts";
import type { Command } from "./registry.ts";

/** Compares two lists, builds, or published lists of two configurations: which rules changed, and the effect on names. */
export const diffCommand: Command = async (options, host, reporter) => {
  const [before, after, ...more] = options.args.operands;
  if (before === undefined || after === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("wrong-usage", "diff needs two lists", { hint: "Such as: diff old.txt new.txt" }),
    ]);
  const sides = [await sideOf(before, options, host), await sideOf(after, options, host)] as const;
  const lists = comparedLists(sides, reporter);
  const { dataStyle: style } = reporter;
  const ranks = await openRanks(sides[1].options, host);
  const answer = async (list: string): Promise<ListAnswer<Omit<DiffOfList, "list">>> => {
    const [old, fresh] = sides;
    const change = await keptChange(
      await stateOf(old, list, host),
      await stateOf(fresh, list, host),
      { name: list, rulesDir: options.rulesDir },
      host,
    );
    const title = lists.length === 1 ? "" : `${style.strong(printable(list))}: `;
    return {
      text: () =>
        `${title}${printable(before)} → ${printable(after)}\n${changeLines(change, style, ranks).join("\n")}\n`,
      document: changeJson(change, ranks),
      exit: changeExit(change, options),
    };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

const CONFIG = /\.(?:json|jsonc|ya?ml)$/i;

/** One side of the comparison: a file, a build, or the published lists of a configuration. */
interface Side {
  readonly operand: string;
  readonly options: Options;
  /** The names of its lists; empty for a file, which is a single list. */
  readonly lists: readonly string[];
}

async function sideOf(operand: string, options: Options, host: Host): Promise<Side> {
  if (BUILD.test(operand)) return { operand, options, lists: await listNames(options, host) };
  if (!CONFIG.test(operand)) return { operand, options, lists: [] };
  const own = { ...options, configPath: operand, output: undefined };
  return { operand, options: own, lists: await listNames(own, host) };
}

/** Lists with the same name on both sides. If each side has one list, these two are compared, whatever their names. */
function comparedLists(
  [before, after]: readonly [Side, Side],
  reporter: Reporter,
): readonly string[] {
  const { lists } = before;
  if (lists.length < 2 && after.lists.length < 2) return [lists[0] ?? after.lists[0] ?? ""];
  const both = lists.filter((name) => after.lists.includes(name));
  const all = [...new Set([...lists, ...after.lists])];
  if (both.length === 0) {
    const message = `diff compares one list; select it with --filter: ${someOf(all)}`;
    throw new CompilerError([errorOf("several-lists", message, { all })]);
  }
  for (const name of all)
    if (!both.includes(name))
      reporter.info(`${printable(name)} exists in one of the configurations only`);
  return both;
}

async function stateOf(
  { operand, options, lists }: Side,
  wanted: string,
  host: Host,
): Promise<KeptState> {
  const [only] = lists;
  if (only !== undefined) {
    const build = await lastBuild(lists.length === 1 ? only : wanted, options, host);
    if (BUILD.test(operand)) return await buildNamed(operand, build.path, host);
    return { bytes: build.list, record: build.record };
  }
  try {
    return { bytes: await host.readFile(host.path.resolve(host.cwd, operand)) };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("source-unreadable", `Cannot read ${printable(operand)}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
