import { decideIn } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable, someOf } from "../../diagnostics/text.ts";
import type { DecideDocument } from "../../documents/documents.ts";
import type { Decision } from "../../documents/facts.ts";
import type { Host } from "../../host/host.ts";
import { withSources } from "../flags/found-config.ts";
import { flagsOf } from "../flags/help.ts";
import { type Options, proofWait } from "../flags/options.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { changedRulesText } from "../output/change-text.ts";
import { decisionText, explanationText } from "../output/explanation-text.ts";
import { columnsOf } from "../output/reporter.ts";
import { sendDocument, showText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Decides about names: writes the decisions, builds again without fetching, and shows what changed. */
export function decideCommand(verdict: Decision["verdict"]): Command {
  return async (options, host, reporter, signal) => {
    const { operands } = options.args;
    const flags = flagsOf(verdict, options.args);
    const { exact, reason, until, remove, ref: reference, list: lists } = flags;
    const style = reporter.dataStyle;
    if (operands.length === 0 && !lists)
      throw new CompilerError([
        errorOf("wrong-usage", `${verdict} needs a name`, {
          hint: `Such as: ${verdict} shop.example.com; ${verdict} --list shows the decisions`,
        }),
      ]);
    const screen = new BuildScreen(options, host, reporter);
    // The summary of a build would hide the answer.
    const lost: string[] = [];
    const emit: typeof screen.show = (event) => {
      if (event.kind === "diagnostic") screen.show(event);
      if (event.kind !== "list-done") return;
      for (const { code, message } of event.outcome.diagnostics)
        if (code === "published-text-lost") lost.push(message);
    };
    const context = { options, host, signal, emit, waitMs: proofWait(options.args) };
    const wish = { verdict, names: lists ? [] : operands, exact, reason, reference, until, remove };
    const decided = await decideIn(wish, context);
    const written = decided.decisions.map((one) => decisionText(one, reporter.style));
    if (lists) {
      if (!options.json) await showText(written.map((text) => `${text}\n`).join(""), host);
    } else for (const text of written) reporter.info(`${remove ? "removed" : "decided"}: ${text}`);
    for (const one of decided.replaced)
      reporter.info(`replaces: ${decisionText(one, reporter.style)}`);
    if (!lists && !remove) {
      const others = options.filter.length > 0 ? [] : await configsBeside(options, host);
      if (others.length > 0)
        reporter.info(
          `It holds for the next compile of ${someOf(others.map((file) => printable(file)))}, too; --filter LIST decides for one list`,
        );
    }
    const { notApplied, built, outcome } = decided;
    if (notApplied === "interrupted") reporter.diagnostic(errorOf("interrupted", INTERRUPTED));
    else if (notApplied === "text-lost")
      reporter.info(`${lost[0] ?? "A text is not stored"}: the next compile applies it`);
    else if (notApplied !== undefined)
      reporter.info(
        `${notBuilt(outcome!.lists)}: the next compile that publishes ${outcome!.lists.length === 1 ? "it" : "them"} applies it`,
      );
    const failed = built.filter(({ status }) => status === "failed" || status === "refused");
    for (const { diagnostics } of failed) for (const one of diagnostics) reporter.diagnostic(one);
    if (options.json) {
      const document: DecideDocument = {
        decisions: decided.decisions,
        isApplied: decided.isApplied,
        ...(notApplied && { notApplied }),
        lists: decided.lists.map(({ list, file, change: { added, removed }, names }) => ({
          list,
          file,
          added,
          removed,
          names,
        })),
      };
      await sendDocument(document, host);
    } else
      for (const { file, change, names } of decided.lists) {
        const rules = changedRulesText(change, style);
        const head = `${printable(file)}${rules === "" ? ": no rule changed" : ""}\n`;
        const answers = names.map((one) =>
          explanationText(one, { ...options, file }, style, columnsOf(host.stdout)),
        );
        await showText(`${head}${rules === "" ? "" : `${rules}\n`}${answers.join("")}`, host);
      }
    if (verdict === "allow" && !remove)
      for (const name of unknownNames(decided))
        reporter.info(`No line of any source is about ${name}. Is that the name?`);
    const exit = screen.exitOf({ lists: built }, signal);
    return exit === Exit.Done && !decided.isProved ? Exit.Unproved : exit;
  };
}

const INTERRUPTED =
  "Interrupted by a signal; the decisions are written, and the next compile applies them";

/** The lists that a decision did not reach, and why. */
function notBuilt(lists: readonly { readonly list: string; readonly status: string }[]): string {
  const missed = lists.filter(({ status }) => status !== "published" && status !== "unchanged");
  return missed.length === 0
    ? "Not all lists were built"
    : someOf(
        missed.map(
          ({ list, status }) => `${printable(list, 60)} is ${NOT_BUILT[status] ?? "not built"}`,
        ),
      );
}

const NOT_BUILT: Readonly<Record<string, string>> = { held: "held", refused: "refused" };

/** The other configurations of the folder, which have the same decisions. */
async function configsBeside({ configPath }: Options, host: Host): Promise<string[]> {
  const path = host.path.resolve(host.cwd, configPath);
  const all = await withSources(host.path.dirname(path), host);
  return all.filter((file) => file !== host.path.basename(path));
}

/** The names that only decisions are about, in all lists. */
function unknownNames({ decisions, lists }: Awaited<ReturnType<typeof decideIn>>): string[] {
  const names = lists.flatMap((one) => one.names);
  return decisions
    .map(({ name, file }) => ({ file, found: names.filter((one) => one.name === name) }))
    .filter(
      ({ file, found }) =>
        found.length > 0 && found.every(({ lines }) => lines.every((line) => line.file === file)),
    )
    .map(({ found }) => printable(found[0]!.name, 253));
}
