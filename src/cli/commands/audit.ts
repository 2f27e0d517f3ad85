import {
  type ImportedConfig,
  auditConfig,
  checkSyntax,
  readImportedConfig,
} from "../../library/programs.ts";
import { type Code, Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import type { Host } from "../../host/host.ts";
import { flagsOf } from "../flags/help.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { columnsOf } from "../output/reporter.ts";
import { auditJson, auditText, trafficTable } from "../output/stats-text.ts";
import { sendDocument, showText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Fetches, compiles and analyses the lists of another program. Writes nothing. */
export const auditCommand: Command = async (options, host, reporter, signal) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("wrong-usage", "audit needs one file", {
        hint: "Such as: audit /opt/AdGuardHome/AdGuardHome.yaml, or audit /etc/pihole/gravity.db",
      }),
    ]);
  const setup = await readSetup(path, host);
  const { show } = new BuildScreen(options, host, reporter);
  const context = { options, host, signal, emit: show };
  const { traffic: logs } = flagsOf("audit", options.args);
  const { report, stats, findings, traffic } = await auditConfig(setup, path, context, logs);
  const audit = { path, setup, report, stats, findings };
  const { dataStyle: style } = reporter;
  const columns = columnsOf(host.stdout);
  if (options.json) {
    const document = { ...auditJson(audit), ...(traffic && { traffic }) };
    await sendDocument(document, host);
    return Exit.Done;
  }
  const queries = traffic === undefined ? "" : `\n${trafficTable(stats, traffic, style, columns)}`;
  await showText(`${auditText(audit, style, columns)}${queries}`, host);
  return Exit.Done;
};

/** A file that is not recognised may be one with an error of syntax, which says more. */
async function readSetup(path: string, host: Host): Promise<ImportedConfig> {
  try {
    return await readImportedConfig(path, host);
  } catch (error) {
    if (!hasCode(error, "setup-unknown")) throw error;
    await checkSyntax(path, host).catch((reason: unknown) => {
      if (hasCode(reason, "config-syntax")) throw reason;
    });
    throw error;
  }
}

function hasCode(error: unknown, code: Code): boolean {
  return error instanceof CompilerError && error.diagnostics.some((one) => one.code === code);
}
