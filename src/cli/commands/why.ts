import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { ListRules } from "../../explain/list-rules.ts";
import {
  type ListPart,
  MappedNames,
  SearchedNames,
  readParts,
} from "../../explain/ordinary-names.ts";
import { type BuildText, type Since, sinceWhen } from "../../explain/since.ts";
import { SourceLines } from "../../explain/source-lines.ts";
import { explainNames, inList } from "../../explain/why.ts";
import type { Host } from "../../host/host.ts";
import type { BuildRecord } from "../../record/build-record.ts";
import { keptBuilds, listOf, momentOf } from "../../record/kept-builds.ts";
import { quickAscii } from "../../syntax/idna.ts";
import { withParents } from "../../syntax/parents.ts";
import { explanationText } from "../explanation-text.ts";
import { lastBuild, openLastBuild } from "../last-build.ts";
import type { Options } from "../options.ts";
import { placeText } from "../place-text.ts";
import { sendToOutput } from "../send-to-output.ts";
import { showText } from "../show-text.ts";
import { columnsOf } from "../text-width.ts";
import type { Command } from "./registry.ts";

/** Answers from the record of the last build; nothing is compiled. */
export const whyCommand: Command = async (options, host, talk) => {
  const { operands } = options.args;
  if (operands.length === 0)
    throw new CompilerError([
      errorOf("unknown-flag", "why needs a name", {
        hint: "Such as: why ads.example.com; - reads names from standard input",
      }),
    ]);
  if (operands.length === 1 && operands[0] === "-") {
    const { list, record } = await lastBuild(options, host, talk);
    await answerMany(list, record, options, host);
    return Exit.Done;
  }
  const names = operands.map(nameOf);
  const { name, path, file, record } = await openLastBuild(options, host, talk);
  let parts: ListPart;
  try {
    parts = await readParts(file, record, names.flatMap(withParents));
  } finally {
    await file.close();
  }
  const rules = await ListRules.of(record, new SearchedNames(record, parts), names);
  const sources = new SourceLines(record, options.cacheFolder, host);
  const sinceOf = async (texts: readonly string[]): Promise<Map<string, Since>> =>
    await sinceWhen(texts, await buildTexts(path, host));
  for (const explanation of await explainNames(names, record, rules, sources, sinceOf)) {
    const columns = columnsOf(host.stdout);
    if (options.isJson)
      await sendToOutput(`${JSON.stringify({ list: name, ...explanation })}\n`, host);
    else await showText(explanationText(explanation, name, talk.dataStyle, columns), host);
  }
  return Exit.Done;
};

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

/** A query log: one line for each name, as fast as it can be written. */
async function answerMany(
  list: Uint8Array,
  record: BuildRecord,
  { isJson }: Options,
  host: Host,
): Promise<void> {
  const rules = await ListRules.of(record, new MappedNames(list, record));
  // What has come is answered before more is waited for: a log that is still written can be piped in.
  for await (const lines of host.stdin!.lines()) {
    let out = "";
    for (const line of lines) {
      const typed = line.trim().toLowerCase().replace(/\.$/, "");
      const name = /[^\u0020-\u007e]/.test(typed) ? quickAscii(typed) : typed;
      if (name === "") continue;
      const { verdict, by } = rules.answer(name);
      const rule = by === undefined ? undefined : inList(by, record);
      if (isJson) out += `${JSON.stringify({ name, verdict, ...(rule && { rule }) })}\n`;
      else
        out += `${printable(name)}\t${verdict}\t${rule === undefined ? "" : `${printable(rule.text)}\t${placeText(rule, 200)}`}\n`;
    }
    await sendToOutput(out, host);
  }
}
