import { type AccountLimits, accountLimits } from "../../dns-api/account-limits.ts";
import { readApiKey } from "../../dns-api/api-key.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { reasonOf } from "../../diagnostics/reason.ts";
import type { Style } from "../../diagnostics/render.ts";
import { countRules } from "../../formats/count-rules.ts";
import { type Host, HostError } from "../../host/host.ts";
import type { FlagName } from "../flags/flags.ts";
import type { Options } from "../flags/options.ts";
import { sendToOutput } from "../output/send-to-output.ts";
import { numberText } from "../../diagnostics/number-text.ts";
import type { Command } from "./registry.ts";

/** The limit that a compiled list counts against. */
const RULES_LIMIT = "user_rules";
const BAR = 20;

/** Shows what the account may use and has used, and whether a list fits. */
export const limitsCommand: Command = async (options, host, talk, signal) => {
  const url = valueOf("dns-api-url", "DNS_API_URL", options, host);
  if (url === undefined)
    throw new CompilerError([errorOf("api-address", "There is no address of the DNS API")]);
  const path = valueOf("dns-api-path", "DNS_API_PATH", options, host);
  const key = await readApiKey(host);
  const file = options.args.values.get("check")?.[0];
  const rules = file === undefined ? undefined : await rulesIn(file, host);
  const account = await accountLimits({ url, path, key, signal }, host);
  const fit = rules === undefined ? undefined : fitOf(rules, account);
  const isTable = host.stdout.isTerminal && !options.json;
  const text = isTable
    ? limitsTable(account, talk.dataStyle)
    : `${JSON.stringify({ ...account, ...(fit && { check: { file, ...fit } }) })}\n`;
  await sendToOutput(text, host);
  if (fit === undefined) return Exit.Done;
  const figures = `${printable(file!)} has ${numberText(fit.rules)} rules, ${numberText(fit.left)} of ${numberText(fit.limit)} are left`;
  if (!fit.fits)
    throw new CompilerError([errorOf("list-does-not-fit", `The list does not fit: ${figures}`)]);
  talk.info(`${talk.style.good("fits")}: ${figures}`);
  return Exit.Done;
};

function valueOf(
  flag: FlagName,
  variable: string,
  { args }: Options,
  { env }: Host,
): string | undefined {
  return args.values.get(flag)?.[0] ?? (env[variable] || undefined);
}

interface Fit {
  readonly rules: number;
  readonly limit: number;
  readonly left: number;
  readonly fits: boolean;
}

function fitOf(rules: number, { limits }: AccountLimits): Fit {
  const found = limits.find(({ name }) => name === RULES_LIMIT);
  if (found === undefined)
    throw new CompilerError([
      errorOf("api-unreachable", `The DNS API tells no limit named ${RULES_LIMIT}`),
    ]);
  const left = Math.max(0, found.limit - found.used);
  return { rules, limit: found.limit, left, fits: rules <= left };
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
  const names = [...limits.map(({ name }) => name), ...Object.keys(other)].map((one) =>
    printable(one, 40),
  );
  const width = Math.max(0, ...names.map((one) => one.length));
  const figures = limits.map(({ used, limit }) => `${numberText(used)} / ${numberText(limit)}`);
  const figureWidth = Math.max(0, ...figures.map((one) => one.length));
  const rows = limits.map(({ used, limit }, index) => {
    const part = limit > 0 ? Math.min(1, used / limit) : used > 0 ? 1 : 0;
    const full = Math.round(part * BAR);
    const tone = part >= 0.95 ? "error" : part >= 0.8 ? "warning" : "good";
    const bar = style[tone]("█".repeat(full)) + style.faint("░".repeat(BAR - full));
    const percent = `${Math.round(part * 100)} %`.padStart(5);
    return `  ${names[index]!.padEnd(width)}  ${bar} ${percent}  ${figures[index]!.padStart(figureWidth)}\n`;
  });
  const others = Object.entries(other).map(
    ([name, value]) =>
      `  ${printable(name, 40).padEnd(width)}  ${style.faint(printable(JSON.stringify(value) ?? "", 60))}\n`,
  );
  return [...rows, ...others].join("");
}
