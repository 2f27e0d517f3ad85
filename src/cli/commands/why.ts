import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { ListRules } from "../../explain/list-rules.ts";
import { type ListPart, MappedNames, SearchedNames, readParts } from "../../explain/plain-names.ts";
import { type BuildText, type Since, sinceWhen } from "../../explain/since.ts";
import { SourceLines } from "../../explain/source-lines.ts";
import { type Explanation, explainNames, inList } from "../../explain/why.ts";
import type { Host } from "../../host/host.ts";
import type { BuildRecord } from "../../record/build-record.ts";
import { keptBuilds, listOf, momentOf } from "../../record/kept-builds.ts";
import { quickAscii } from "../../syntax/idna.ts";
import { withParents } from "../../syntax/parents.ts";
import { explanationText } from "../output/explanation-text.ts";
import { type ListAnswer, answerLists } from "../answer-lists.ts";
import { lastBuild, listNames, openLastBuild } from "../../build/state/published-build.ts";
import type { Options } from "../flags/options.ts";
import { locationText } from "../output/location-text.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { columnsOf } from "../output/text-width.ts";
import type { Command } from "./registry.ts";

/** Answers from the record of the last build; nothing is compiled. */
export const whyCommand: Command = async (options, host, reporter) => {
  const { operands } = options.args;
  if (operands.length === 0)
    throw new CompilerError([
      errorOf("unknown-flag", "why needs a name", {
        hint: "Such as: why ads.example.com; - reads names from standard input",
      }),
    ]);
  const lists = await listNames(options, host);
  if (operands.length === 1 && operands[0] === "-") {
    await answerMany(lists, options, host);
    return Exit.Done;
  }
  const names = operands.map(nameOf);
  const answer = async (list: string): Promise<ListAnswer> => {
    const { file, explanations } = await explain(names, list, options, host);
    const columns = columnsOf(host.stdout);
    return {
      text: () =>
        explanations.map((one) => explanationText(one, file, reporter.dataStyle, columns)).join(""),
      documents: explanations.map((one) => ({ list: file, ...one })),
      label: "names",
    };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

async function explain(
  names: readonly string[],
  listName: string,
  options: Options,
  host: Host,
): Promise<{ file: string; explanations: Explanation[] }> {
  const { name, path, file, record } = await openLastBuild(listName, options, host);
  let parts: ListPart;
  try {
    parts = await readParts(file, record, names.flatMap(withParents));
  } finally {
    await file.close();
  }
  const rules = await ListRules.of(record, new SearchedNames(record, parts), names);
  const sources = new SourceLines(record, options.cacheDir, host);
  const sinceOf = async (texts: readonly string[]): Promise<Map<string, Since>> =>
    await sinceWhen(texts, await buildTexts(path, host));
  return {
    file: name,
    explanations: await explainNames(names, { record, rules, sources, sinceOf }),
  };
}

async function buildTexts(path: string, host: Host): Promise<BuildText[]> {
  const builds = (await keptBuilds(path, host)).toReversed();
  return builds.map((build) => ({
    at: momentOf(build.stamp),
    text: build.files.list,
    list: async () => await listOf(build, host),
  }));
}

/** `||ads.example.com^` and `0.0.0.0 ads.example.com` ask about their name. */
function nameOf(operand: string): string {
  const address = operand.trim().replace(/^\w+:\/\/([^/?#]*).*$/, "$1");
  const bare = address
    .trim()
    .replace(/^@@/, "")
    .replace(/^\|{0,2}(?:[0-9.:]+\s+)?/, "");
  const name = bare.replace(/[\^$].*$/, "").replace(/\.$/, "");
  return quickAscii(name).toLowerCase();
}

/** A query log: one line for each name, and each list where there are several, as fast as it can be written. */
async function answerMany(lists: readonly string[], options: Options, host: Host): Promise<void> {
  const many: { rules: ListRules; record: BuildRecord; of: string | undefined }[] = [];
  for (const one of lists) {
    const { list, record } = await lastBuild(one, options, host);
    const rules = await ListRules.of(record, new MappedNames(list, record));
    many.push({ rules, record, of: lists.length === 1 ? undefined : one });
  }
  // What has come is answered before more is waited for: a log that is still written can be piped in.
  for await (const lines of host.stdin!.lines()) {
    let out = "";
    for (const line of lines) {
      const typed = line.trim().toLowerCase().replace(/\.$/, "");
      const name = /[^\u0020-\u007e]/.test(typed) ? quickAscii(typed) : typed;
      if (name === "") continue;
      for (const { rules, record, of } of many) {
        const { verdict, by } = rules.answer(name);
        const rule = by === undefined ? undefined : inList(by, record);
        if (options.json)
          out += `${JSON.stringify({ ...(of && { list: of }), name, verdict, ...(rule && { rule }) })}\n`;
        else
          out += `${of === undefined ? "" : `${printable(of)}\t`}${printable(name)}\t${verdict}\t${rule === undefined ? "" : `${printable(rule.text)}\t${locationText(rule, 200)}`}\n`;
      }
    }
    await sendToOutput(out, host);
  }
}
