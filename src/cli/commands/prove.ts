import type { ProofsOfList } from "../../documents/documents.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { printable } from "../../diagnostics/text.ts";
import { proofDiagnostics, proveResolvers } from "../../resolvers/prove.ts";
import { proofWait } from "../flags/options.ts";
import { type Reporter, columnsOf } from "../output/reporter.ts";
import { renderTable, sendDocument, showText } from "../output/table.ts";
import type { Command } from "./registry.ts";
import type { Proof } from "../../index.ts";

/** Asks resolvers whether they answer from the published list. */
export const proveCommand: Command = async (options, host, reporter, signal) => {
  const waitMs = proofWait(options.args);
  const proofs = await proveResolvers(options, host, { waitMs, signal });
  const bad = proofs.filter(({ outcome }) => outcome !== "proved");
  if (options.json) await sendDocument({ ok: bad.length === 0, lists: byList(proofs) }, host);
  else await showText(textOf(proofs, reporter, columnsOf(host.stdout)), host);
  for (const diagnostic of bad.flatMap(proofDiagnostics)) reporter.diagnostic(diagnostic);
  return bad.length === 0 ? Exit.Done : Exit.Unproved;
};

/** The resolvers of each list. */
function byList(proofs: readonly Proof[]): ProofsOfList[] {
  const lists = [...new Set(proofs.map(({ list }) => list))];
  return lists.map((list) => ({ list, resolvers: proofs.filter((one) => one.list === list) }));
}

function textOf(proofs: readonly Proof[], { dataStyle }: Reporter, columns: number): string {
  const rows = proofs.map(({ resolver, outcome, build, latencyMs, detail }) => [
    printable(resolver, 60),
    outcome === "proved" ? dataStyle.good(outcome) : dataStyle.error(outcome),
    build ?? "-",
    latencyMs === null ? "-" : `${latencyMs} ms`,
    detail,
  ]);
  return `${renderTable(rows, { align: "lllrl", indent: 0, columns }).join("\n")}\n`;
}
