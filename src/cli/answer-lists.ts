import { listFiles } from "../build/list-files.ts";
import { unfinishedPublish } from "../build/unfinished-publish.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { Exit } from "../diagnostics/exit.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./flags/options.ts";
import { sendToOutput } from "../host/send-to-output.ts";
import { showText } from "./output/show-text.ts";
import type { Reporter } from "./output/reporter.ts";
import { withList } from "./output/with-list.ts";

/** The answer of a command about one list. */
export interface ListAnswer {
  /** Human-readable output. */
  readonly text: () => string;
  /** JSON output. For a single list, each document is printed on its own line. */
  readonly documents: readonly object[];
  /** The field for these documents in output for several lists. Without it, the first document is the answer. */
  readonly label?: string;
  readonly exit?: Exit;
}

/** Answers for each selected list: in sequence as text, or as one JSON document. A list that fails does not block the others. */
export async function answerLists(
  lists: readonly string[],
  answer: (list: string) => Promise<ListAnswer>,
  { options, host, reporter }: { options: Options; host: Host; reporter: Reporter },
): Promise<Exit> {
  const isOne = lists.length === 1;
  const exits: Exit[] = [];
  const documents: object[] = [];
  for (const list of lists) {
    try {
      for (const file of listFiles(list, options, host).slice(0, 1))
        for (const warning of await unfinishedPublish(file, host)) reporter.diagnostic(warning);
      const { text, documents: own, label, exit = Exit.Done } = await answer(list);
      exits.push(exit);
      if (!options.json)
        await (options.args.switches.has("markdown") ? sendToOutput : showText)(text(), host);
      else if (isOne) for (const one of own) await sendToOutput(`${JSON.stringify(one)}\n`, host);
      else documents.push({ list, ...(label === undefined ? own[0] : { [label]: own }) });
    } catch (error) {
      if (isOne || !(error instanceof CompilerError)) throw error;
      exits.push(error.exit);
      for (const diagnostic of error.diagnostics) reporter.diagnostic(withList(diagnostic, list));
      documents.push({ list, exit: error.exit, diagnostics: error.diagnostics });
    }
  }
  if (options.json && !isOne) await sendToOutput(`${JSON.stringify({ lists: documents })}\n`, host);
  const errors = exits.filter((exit) => exit !== Exit.Changes);
  const worst = Math.max(Exit.Done, ...errors) as Exit;
  return worst === Exit.Done && exits.includes(Exit.Changes) ? Exit.Changes : worst;
}
