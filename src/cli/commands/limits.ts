import { countRules, fetchAccountLimits, loadApiKey } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, type Style, errorOf } from "../../diagnostics/render.ts";
import { countText, numberText, printable, reasonOf } from "../../diagnostics/text.ts";
import type { AccountLimits } from "../../documents/facts.ts";
import { sendToOutput } from "../../host/files.ts";
import { type Host, HostError } from "../../host/host.ts";
import { renderTable } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** The limit that a compiled list counts against. */
const RULES_LIMIT = "user_rules";
const BAR = 20;

/** Shows the limits and usage of the account, and whether a list fits. */
export const limitsCommand: Command = async (options, host, reporter, signal) => {
  const [file, ...more] = options.args.operands;
  if (more.length > 0)
    throw new CompilerError([errorOf("wrong-usage", "limits checks one list at a time")]);
  const url = host.env["DNS_API_URL"] || undefined;
  if (url === undefined)
    throw new CompilerError([errorOf("api-address", "The URL of the DNS API is not set")]);
  const path = host.env["DNS_API_PATH"] || undefined;
  const key = await loadApiKey(host);
  const rules = file === undefined ? undefined : await rulesIn(file, host);
  const account = await fetchAccountLimits({ url, path, key, signal }, host);
  const fit = rules === undefined ? undefined : fitOf(rules, account);
  const isTable = host.stdout.isTerminal && !options.json;
  const text = isTable
    ? limitsTable(account, reporter.dataStyle)
    : `${JSON.stringify({ ...account, ...(fit && { check: { file, ...fit } }) })}\n`;
  await sendToOutput(text, host);
  if (fit === undefined) return Exit.Done;
  const figures = `${printable(file!)} has ${countText(fit.rules, "rule")}, ${numberText(fit.left)} of ${numberText(fit.limit)} are left`;
  if (!fit.ok)
    throw new CompilerError([errorOf("list-does-not-fit", `The list does not fit: ${figures}`)]);
  reporter.info(`${reporter.style.good("fits")}: ${figures}`);
  return Exit.Done;
};

interface Fit {
  /** Whether the list fits. */
  readonly ok: boolean;
  readonly rules: number;
  readonly limit: number;
  readonly left: number;
}

function fitOf(rules: number, { limits }: AccountLimits): Fit {
  const found = limits.find(({ name }) => name === RULES_LIMIT);
  if (found === undefined)
    throw new CompilerError([
      errorOf("api-unreachable", `The DNS API reports no limit named ${RULES_LIMIT}`),
    ]);
  const left = Math.max(0, found.limit - found.used);
  return { ok: rules <= left, rules, limit: found.limit, left };
}

async function rulesIn(file: string, host: Host): Promise<number> {
  try {
    return await countRules(await host.openFile(host.path.resolve(host.cwd, file)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("source-unreadable", `Cannot read ${printable(file)}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}

function limitsTable({ limits, other }: AccountLimits, style: Style): string {
  const rows = limits.map(({ name, used, limit }) => {
    const part = limit > 0 ? Math.min(1, used / limit) : used > 0 ? 1 : 0;
    const full = Math.round(part * BAR);
    const tone = part >= 0.95 ? "error" : part >= 0.8 ? "warning" : "good";
    const bar = style[tone]("█".repeat(full)) + style.faint("░".repeat(BAR - full));
    const numbers = `${numberText(used)} / ${numberText(limit)}`;
    return [printable(name, 40), bar, `${Math.round(part * 100)} %`, numbers];
  });
  const others = Object.entries(other).map(([name, value]) => [
    printable(name, 40),
    style.faint(printable(JSON.stringify(value) ?? "", 60)),
  ]);
  return renderTable([...rows, ...others], { align: "llrr" })
    .map((text) => `${text}\n`)
    .join("");
}
