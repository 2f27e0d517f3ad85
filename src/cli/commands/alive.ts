import { aliveIn } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { countText, numberText, printable } from "../../diagnostics/text.ts";
import type { AliveDocument } from "../../documents/documents.ts";
import type { AliveOfList } from "../../documents/facts.ts";
import { flagsOf } from "../flags/help.ts";
import { type Reporter, columnsOf, fitText } from "../output/reporter.ts";
import { renderTable, sendDocument, showText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Back to the beginning of the line, which is cleared. */
const ERASE = "\r\u001b[K";

/** Asks resolvers whether the names of the published lists exist, and keeps what they say. */
export const aliveCommand: Command = async (options, host, reporter, signal) => {
  const { resolver: resolvers, rate, parked, from } = flagsOf("alive", options.args);
  const { stderr } = host;
  const show = (asked: { readonly names: number }, due: number): void => {
    const text = `asking, ${numberText(asked.names)} of ${countText(due, "name")}`;
    stderr.write(`${ERASE}${fitText(text, stderr.columns - 1)}`);
  };
  const request = {
    resolvers,
    rate: numberOf(rate),
    parked,
    from,
    signal,
    ...(reporter.isLive && { onBatch: show }),
  };
  const result = await aliveIn(request, options, host).finally(() => {
    if (reporter.isLive) stderr.write(ERASE);
  });
  signal.throwIfAborted();
  const { refusal, imported, ...facts } = result;
  const isOk = refusal === undefined;
  const document: AliveDocument = {
    ok: isOk,
    ...(!isOk && { refusal }),
    ...facts,
    ...(imported && { imported }),
  };
  if (options.json) await sendDocument(document, host);
  else await showText(textOf(document, reporter, columnsOf(host.stdout)), host);
  if (isOk) return Exit.Done;
  reporter.diagnostic(errorOf("resolver-refused", `The resolver ${refusal}`));
  return Exit.Unproved;
};

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  throw new CompilerError([errorOf("wrong-usage", `${printable(text, 40)} is not a number`)]);
}

const COLUMNS = ["dead", "held", "missing", "parked", "answers", "unknown"] as const;

function textOf(document: AliveDocument, { dataStyle }: Reporter, columns: number): string {
  const { asked, due, imported, lists, file, names } = document;
  const out: string[] = [];
  if (imported !== undefined)
    out.push(
      `imported ${printable(imported.file)}: ${countText(imported.missing, "name")} missing, ${numberText(imported.answered)} with answers, ${countText(imported.ignored, "line")} ignored`,
    );
  if (due > 0 || asked.questions > 0)
    out.push(
      `asked about ${numberText(asked.names)} of ${countText(due, "name")} that ${due === 1 ? "was" : "were"} due: ${countText(asked.questions, "question")}, ${countText(asked.tests, "test")} of the resolver`,
    );
  const rowOf = ({ list, rules, states }: AliveOfList): string[] => [
    printable(list, 40),
    numberText(rules),
    ...COLUMNS.map((state) => numberText(states[state])),
  ];
  const head = ["list", "rules", ...COLUMNS].map((word) => dataStyle.faint(word));
  const rows = [head, ...lists.map(rowOf)];
  out.push(...renderTable(rows, { align: "lrrrrrrr", indent: 0, columns }));
  out.push(`${printable(file)} has ${countText(names, "name")}`);
  return `${out.join("\n")}\n`;
}
