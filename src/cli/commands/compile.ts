import { dirname, join, resolve } from "node:path";
import { type CompileResult, compileList } from "../../compile/compile.ts";
import { VALIDATION_CONTEXT } from "../../compile/validation-context.ts";
import { slugOf, writeList } from "../../compile/write.ts";
import { nodeOfValue } from "../../config/config-node.ts";
import { type Config, SOURCE_TYPES } from "../../config/fields.ts";
import { loadConfigFile } from "../../config/load.ts";
import { validateConfig } from "../../config/validate.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../options.ts";
import { ProgressLines } from "../progress-lines.ts";
import { bytesText, numberText, summaryTable } from "../summary.ts";
import type { Talk } from "../talk.ts";

/** `rules-compiler compile` and `validate`: they differ in where they stop. */
export async function compileCommand(
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<Exit> {
  const started = host.now().getTime();
  const { config, folder } =
    options.inputs.length > 0
      ? quickConfig(options, host)
      : await configFromFile(options, host, talk);
  if (options.onlyValidates) {
    const count = config.sources.length;
    talk.info(
      `${talk.style.good("valid")}: "${printable(config.name)}" with ${count} ${count === 1 ? "source" : "sources"}`,
    );
    if (options.isJson)
      host.stdout.write(`${JSON.stringify({ valid: true, name: config.name, sources: count })}\n`);
    return Exit.Done;
  }
  if (options.inputs.length > 0 && options.output === undefined)
    throw new CompilerError([
      errorOf("unknown-flag", "-i needs -o: where the list is to be written", {
        hint: "Add -o list.txt, or -o - for standard output",
      }),
    ]);

  const result = await compileWithProgress(config, folder, host, talk, signal);
  for (const diagnostic of result.diagnostics) talk.diagnostic(diagnostic);
  const written = await writeOutputs(config, options, result.bytes, host);
  const seconds = (host.now().getTime() - started) / 1000;
  if (options.isJson && options.output !== "-") {
    const { diagnostics } = result;
    host.stdout.write(
      `${JSON.stringify({ ...result.report, outputs: written, seconds, diagnostics })}\n`,
    );
  } else {
    talk.info(summaryTable(result.report, host.stderr.columns, talk.style));
    for (const { file, outcome } of written)
      talk.info(
        `${talk.style.good(outcome)} ${talk.style.strong(printable(file))}: ${numberText(result.report.rules)} rules, ${bytesText(result.bytes.length)}, ${seconds.toFixed(1)} s`,
      );
  }
  return Exit.Done;
}

async function configFromFile(
  options: Options,
  host: Host,
  talk: Talk,
): Promise<{ config: Config; folder: string }> {
  talk.debug(`configuration: ${printable(resolve(host.cwd, options.configPath))}`);
  const { config, path, warnings } = await loadConfigFile(
    options.configPath,
    host,
    VALIDATION_CONTEXT,
  );
  for (const warning of warnings) talk.diagnostic(warning);
  return { config, folder: dirname(path) };
}

/** The configuration that `-i` stands for. */
function quickConfig(
  { inputs, inputType }: Options,
  host: Host,
): { config: Config; folder: string } {
  const value = {
    name: "Blocklist",
    sources: inputs.map((source) => ({ source, name: source, type: inputType ?? SOURCE_TYPES[0] })),
    transformations: [
      "RemoveComments",
      "Deduplicate",
      "Compress",
      "Validate",
      "TrimLines",
      "InsertFinalNewLine",
    ],
  };
  const { config, diagnostics } = validateConfig(nodeOfValue(value), VALIDATION_CONTEXT);
  if (config === undefined) throw new CompilerError(diagnostics);
  // The name repeated the source only to keep the check quiet; it says nothing a banner should repeat.
  const sources = config.sources.map(({ name: _, ...source }) => source);
  return { config: { ...config, sources }, folder: host.cwd };
}

async function compileWithProgress(
  config: Config,
  configFolder: string,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompileResult> {
  const progress = new ProgressLines(host, talk, config.sources.length);
  try {
    return await compileList(config, host, {
      configFolder,
      signal,
      onProgress: (event) => progress.show(event),
    });
  } finally {
    progress.end();
  }
}

async function writeOutputs(config: Config, options: Options, bytes: Uint8Array, host: Host) {
  const { output } = options;
  const written: { file: string; outcome: string }[] = [];
  if (output === "-") host.stdout.writeBytes(bytes);
  else if (output !== undefined)
    written.push({
      file: output,
      outcome: await writeList(resolve(host.cwd, output), bytes, host),
    });
  if (options.writesToRules) {
    const file = join(options.rulesFolder, `${slugOf(config.name)}.txt`);
    written.push({ file, outcome: await writeList(resolve(host.cwd, file), bytes, host) });
  }
  return written;
}
