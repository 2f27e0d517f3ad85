import { proofDiagnostics, proveResolvers } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { printable } from "../../diagnostics/text.ts";
import type { ProofsOfList } from "../../documents/documents.ts";
import type { Proof } from "../../documents/facts.ts";
import type { Host } from "../../host/host.ts";
import { proofWait } from "../flags/options.ts";
import { type Reporter, columnsOf, fitText } from "../output/reporter.ts";
import { proofText, renderTable, sendDocument, showText } from "../output/table.ts";
import type { Command } from "./registry.ts";

const TICK_MS = 500;
/** Back to the beginning of the line, which is cleared. */
const ERASE = "\r\u001b[K";

/** Asks resolvers whether they answer from the published list. */
export const proveCommand: Command = async (options, host, reporter, signal) => {
  const waitMs = proofWait(options.args);
  const line = reporter.isLive ? new WaitingLine(host, waitMs) : undefined;
  const onLook = line && ((name: string, outcome: string): void => line.show(name, outcome));
  const how = { waitMs, signal, onLook };
  const proofs = await proveResolvers(options, host, how).finally(() => line?.end());
  const bad = proofs.filter(({ outcome }) => outcome !== "proved");
  if (options.json) await sendDocument({ ok: bad.length === 0, lists: byList(proofs) }, host);
  else await showText(textOf(proofs, reporter, columnsOf(host.stdout)), host);
  for (const diagnostic of bad.flatMap(proofDiagnostics)) reporter.diagnostic(diagnostic);
  return bad.length === 0 ? Exit.Done : Exit.Unproved;
};

/** One line on a terminal: which resolvers are not proved yet, and how long they may still take. */
class WaitingLine {
  private readonly host: Host;
  private readonly until: number;
  private readonly seen = new Map<string, string>();
  private readonly clock: ReturnType<typeof setInterval>;

  constructor(host: Host, waitMs: number) {
    this.host = host;
    this.until = host.now().getTime() + waitMs;
    this.clock = setInterval(() => this.draw(), TICK_MS);
    this.draw();
  }

  show(resolver: string, outcome: string): void {
    this.seen.set(resolver, outcome);
    this.draw();
  }

  end(): void {
    clearInterval(this.clock);
    this.host.stderr.write(ERASE);
  }

  private draw(): void {
    const { stderr } = this.host;
    const waiting = [...this.seen].filter(([, outcome]) => outcome !== "proved");
    const left = Math.max(0, Math.ceil((this.until - this.host.now().getTime()) / 1000));
    const states = waiting.map(([name, outcome]) => `${printable(name, 40)} is ${outcome}`);
    const parts = ["asking resolvers", ...states, ...(left === 0 ? [] : [`${left} s left`])];
    stderr.write(`${ERASE}${fitText(parts.join(", "), stderr.columns - 1)}`);
  }
}

/** The resolvers of each list. */
function byList(proofs: readonly Proof[]): ProofsOfList[] {
  const lists = [...new Set(proofs.map(({ list }) => list))];
  return lists.map((list) => ({ list, resolvers: proofs.filter((one) => one.list === list) }));
}

function textOf(proofs: readonly Proof[], { dataStyle }: Reporter, columns: number): string {
  const rows = proofs.map((proof) => {
    const { resolver, outcome, build, latencyMs } = proof;
    return [
      printable(resolver, 60),
      outcome === "proved" ? dataStyle.good(outcome) : dataStyle.error(outcome),
      build ?? "-",
      latencyMs === null ? "-" : `${latencyMs} ms`,
      proofText(proof),
    ];
  });
  return `${renderTable(rows, { align: "lllrl", indent: 0, columns }).join("\n")}\n`;
}
