import {
  asciiName,
  askedName,
  decisionFor,
  lastList,
  listNames,
  livenessFinder,
  livenessText,
  rankFinder,
  timesAsked,
  trafficLogs,
  verdictsOf,
  waitingDecisions,
  withAliases,
} from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, type Style, errorOf } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import type { NamesOfList } from "../../documents/documents.ts";
import type { Decision, NameLiveness, NameRank } from "../../documents/facts.ts";
import { sendToOutput } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";
import { type ListAnswer, answerLists } from "../answers.ts";
import { flagsOf } from "../flags/help.ts";
import type { Options } from "../flags/options.ts";
import { explanationText, waitingText } from "../output/explanation-text.ts";
import { columnsOf } from "../output/reporter.ts";
import { locationText, rankText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Answers from the record of the last build, without compiling. */
export const whyCommand: Command = async (options, host, reporter, signal) => {
  const { operands } = options.args;
  if (operands.length === 0)
    throw new CompilerError([
      errorOf("wrong-usage", "why needs a name", {
        hint: "Such as: why ads.example.com; - reads names from standard input",
      }),
    ]);
  const { resolver: resolvers, traffic: files } = flagsOf("why", options.args);
  const [resolver, ...more] = resolvers;
  if (more.length > 0)
    throw new CompilerError([errorOf("wrong-usage", "why takes one --resolver")]);
  if (resolver !== undefined && operands.includes("-"))
    throw new CompilerError([errorOf("wrong-usage", "--resolver needs names, not -")]);
  const lists = await listNames(options, host);
  if (operands.length === 1 && operands[0] === "-") {
    if (files.length > 0)
      throw new CompilerError([
        errorOf("wrong-usage", "why - takes no --traffic", {
          hint: "Give the names as words, such as: why ads.example.com --traffic queries.log",
        }),
      ]);
    await answerMany(lists, options, host);
    return Exit.Done;
  }
  const given = operands.map(askedName);
  const odd = operands.find((_, index) => !isLikeName(given[index]!));
  if (odd !== undefined)
    throw new CompilerError([
      errorOf("wrong-usage", `${printable(odd, 80)} is not a name`, {
        hint: "Such as: why ads.example.com; URLs and rules with a name will do, too",
      }),
    ]);
  const names =
    resolver === undefined ? given : await withAliases(given, resolver, { options, host, signal });
  const logs = trafficLogs(files, host);
  const asked = logs && (await timesAsked(names, logs));
  const rankOf = await rankFinder(options, host);
  const aliveOf = await livenessFinder(options, host);
  const answer = async (list: string): Promise<ListAnswer<Omit<NamesOfList, "list">>> => {
    const { name: file, build } = await lastList(list, options, host);
    const explanations = await build.why(...names);
    const waiting = await waitingDecisions(list, build.decisions, { options, host });
    const columns = columnsOf(host.stdout);
    return {
      text: () =>
        explanations
          .map(
            (one) =>
              explanationText(one, { ...options, file }, reporter.dataStyle, columns) +
              waitingLine(decisionFor(one.name, waiting), reporter.dataStyle) +
              aliveLine(aliveOf?.(one.name), one.name) +
              rankLine(rankOf(one.name)) +
              askedText(one.name, asked),
          )
          .join(""),
      document: {
        file,
        names: explanations.map((one) => ({
          ...one,
          ...aliveJson(aliveOf?.(one.name)),
          ...rankJson(rankOf(one.name)),
          ...(asked && { asked: asked.times.get(one.name) ?? 0 }),
        })),
      },
    };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

/** Whether a rule could be about it: wildcards are possible, addresses and blanks are not. */
function isLikeName(name: string): boolean {
  return /^[\w*-]+(?:\.[\w*-]+)*$/.test(name) && !/^[\d.]+$/.test(name);
}

function askedText(
  name: string,
  asked: Awaited<ReturnType<typeof timesAsked>> | undefined,
): string {
  if (asked === undefined) return "";
  const times = countText(asked.times.get(name) ?? 0, "time");
  return `  asked ${times} in ${countText(asked.queries, "query", "queries")}\n`;
}

function waitingLine(decision: Decision | undefined, style: Style): string {
  return decision === undefined ? "" : `  ${waitingText(decision, style)}\n`;
}

function aliveLine(alive: NameLiveness | undefined, name: string): string {
  if (alive === undefined) return "";
  const of = alive.name === name ? "" : `${printable(alive.name)} `;
  return `  ${of}${livenessText(alive)}\n`;
}

function aliveJson(alive: NameLiveness | undefined): { readonly alive?: NameLiveness } {
  return alive === undefined ? {} : { alive };
}

function rankLine(rank: NameRank | undefined): string {
  return rank === undefined ? "" : `  ${rankText(rank)}\n`;
}

function rankJson(rank: NameRank | undefined): { readonly rank?: NameRank } {
  return rank === undefined ? {} : { rank };
}

/** Reads a query log and prints one line per name and list. */
async function answerMany(lists: readonly string[], options: Options, host: Host): Promise<void> {
  const many: { verdictOf: Awaited<ReturnType<typeof verdictsOf>>; list: string }[] = [];
  for (const list of lists) many.push({ verdictOf: await verdictsOf(list, options, host), list });
  // Answers available lines before it waits for more, so that a growing log can be piped in.
  for await (const lines of host.stdin!.lines()) {
    let out = "";
    for (const line of lines) {
      const name = asciiName(line);
      if (name === "") continue;
      for (const { verdictOf, list } of many) {
        const { verdict, rule } = verdictOf(name);
        if (options.json)
          out += `${JSON.stringify({ list, name, verdict, ...(rule && { rule }) })}\n`;
        else
          out += `${lists.length === 1 ? "" : `${printable(list)}\t`}${printable(name)}\t${verdict}\t${rule === undefined ? "" : `${printable(rule.text)}\t${locationText(rule, 200)}`}\n`;
      }
    }
    await sendToOutput(out, host);
  }
}
