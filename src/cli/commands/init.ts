import { USER_RULES, configText, isUsed, problemOf } from "../../import/config-text.ts";
import {
  type ImportedList,
  type ImportedConfig,
  nameOf,
  configOfLists,
  filesOf,
  isAddress,
  isFetchable,
  withFiles,
  withUniqueNames,
  withoutRepeats,
} from "../../import/imported-config.ts";
import { readImportedConfig } from "../../import/read-imported-config.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import type { Host } from "../../host/host.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { askForSetup } from "../ask-for-setup.ts";
import { CONFIG_NAMES, NEW_CONFIG, configsIn } from "../flags/found-config.ts";
import { FORMAT_NAMES, OUTPUT_FORMATS } from "../../config/output-fields.ts";
import { formatOption } from "../flags/format-option.ts";
import { lookAtLists } from "../../build/look-at-lists.ts";
import type { Options } from "../flags/options.ts";
import { writeText } from "../../build/write-text.ts";
import { flagsOf } from "../flags/command-flags.ts";
import type { Command } from "./registry.ts";

/** Writes a configuration, and a file for the user's own rules if there are any. */
export const initCommand: Command = async (options, host, reporter, signal) => {
  const { args } = options;
  const addresses = args.operands.filter(isAddress);
  const files = args.operands.filter((word) => !isAddress(word));
  const [file = NEW_CONFIG, ...more] = files;
  if (more.length > 0 || !/^\.ya?ml$/i.test(host.path.extname(file)))
    throw new CompilerError([
      errorOf("unknown-flag", "init writes one file, which ends in .yaml or .yml", {
        hint: "Name a local list with -i: rules-compiler init -i FILE",
      }),
    ]);
  const path = host.path.resolve(host.cwd, file);
  // If both default files exist, only the first is read.
  const isDefault = files.length === 0;
  const [taken] = isDefault ? await configsIn(host.cwd, host) : [];
  if (taken !== undefined || (await host.exists(path)))
    throw new CompilerError([errorOf("file-exists", `${printable(taken ?? file)} already exists`)]);
  refuseBadAddresses([...options.inputs, ...addresses]);
  const { format: formats, name: givenName, from } = flagsOf("init", args);
  for (const format of formats) formatOption("--format", format, OUTPUT_FORMATS);
  const usualName = nameFor(host.path.basename(file));
  const asked = await setupOf(
    { ...options, inputs: [...options.inputs, ...addresses], from, usualName },
    path,
    host,
  );
  const wanted = withoutRepeats(asked.setup.lists, asked.imported ?? 0);
  for (const source of wanted.repeated)
    reporter.info(`named more than once, used once: ${withoutCredentials(source)}`);
  const name = givenName ?? asked.name ?? asked.setup.name ?? usualName;
  if (wanted.lists.every(({ isOn }) => !isOn) && asked.setup.userRules.length === 0)
    throw new CompilerError([
      errorOf("unknown-flag", "No list is enabled there; add lists with -i"),
    ]);
  const count = wanted.lists.filter(({ isOn }) => isOn).length;
  reporter.info(`checking ${countText(count, "list")}`);
  const setup = await lookAtLists(
    { ...asked.setup, lists: withUniqueNames(wanted.lists) },
    host.path.dirname(path),
    { ...options, signal },
    host,
  );
  const hasOwn = setup.userRules.length > 0;
  const userRulesFile = await freeName(USER_RULES, host.path.dirname(path), host);
  const allFormats = [...new Set([...(setup.formats ?? []), ...formats])];
  await writeText(path, configText({ name, setup, formats: allFormats, userRulesFile }), host);
  if (hasOwn)
    await writeText(
      host.path.join(host.path.dirname(path), userRulesFile),
      `${setup.userRules.join("\n")}\n`,
      host,
    );
  const { style } = reporter;
  const lists = setup.lists.filter(isUsed).length;
  reporter.info(
    `${style.good("written")} ${style.strong(printable(file))}: ${countText(lists, "source")}${hasOwn ? `, and ${countText(setup.userRules.length, "own rule")} in ${userRulesFile}` : ""}`,
  );
  const commentedOut = [...setup.lists, ...filesOf(setup)]
    .filter((list) => list.isOn && !isUsed(list))
    .map((list) => ({ name: list.name, problem: problemOf(list) ?? "" }));
  for (const { name: list, problem } of commentedOut)
    reporter.info(
      `  ${style.warning(`commented out: ${printable(list, 60)}: ${printable(problem, 300)}`)}`,
    );
  for (const note of setup.notes) reporter.info(`  ${style.warning(printable(note, 400))}`);
  const isFound = isDefault && !host.env["CONFIG_PATH"];
  const words = isFound ? "rules-compiler" : `rules-compiler -c ${printable(file)}`;
  reporter.info(`compile it: ${style.strong(words)}`);
  if (options.json) {
    const own = hasOwn ? { ownRules: setup.userRules.length, ownRulesFile: userRulesFile } : {};
    const document = { file, name, sources: lists, ...own, commentedOut, notes: setup.notes };
    await sendToOutput(`${JSON.stringify(document)}\n`, host);
  }
  return Exit.Done;
};

/** The name of the list in a new file. Lists with the same name would replace each other. */
function nameFor(file: string): string {
  return CONFIG_NAMES.includes(file) ? "My list" : file.replace(/\.[^.]*$/, "");
}

/** Throws a `CompilerError` if nothing can be fetched from an address. */
function refuseBadAddresses(sources: readonly string[]): void {
  const bad = sources.filter(
    (source) => source === "" || (isAddress(source) && !isFetchable(source)),
  );
  if (bad.length === 0) return;
  const shown = bad.map((source) => withoutCredentials(source) || "an empty text");
  throw new CompilerError([
    errorOf("unknown-flag", `Not the URL of a list: ${someOf(shown)}`, {
      hint: "A URL starts with https:// or http:// and a host; name a local list by its path",
    }),
  ]);
}

/** The name, with the lowest number appended that makes it unique in a folder. */
async function freeName(name: string, folder: string, host: Host): Promise<string> {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : name.replace(/(?=\.[^.]*$)/, `-${number}`);
    if (!(await host.exists(host.path.join(folder, free)))) return free;
  }
}

/** Relative paths start at the file that contains them, and the new file may be in another folder. */
async function movedTo(
  folder: string,
  setup: ImportedConfig,
  from: string,
  host: Host,
): Promise<ImportedConfig> {
  const moved = (lists: readonly ImportedList[]): ImportedList[] =>
    lists.map((list) =>
      isAddress(list.source) || host.path.isAbsolute(list.source) || folder === from
        ? list
        : { ...list, source: relativeSource(folder, host.path.resolve(from, list.source), host) },
    );
  const files = await withFiles(setup, moved);
  return { ...files, lists: moved(files.lists) };
}

/** Uses `/` on every system, so that the configuration is portable. */
function relativeSource(folder: string, source: string, { path }: Host): string {
  return path.relative(folder, source).replaceAll(path.sep, "/");
}

interface Asked extends Pick<Options, "inputs" | "inputType"> {
  readonly from: string | undefined;
  /** The name if the user gives none. */
  readonly usualName: string;
}

async function setupOf(
  { from, inputs, inputType, usualName }: Asked,
  path: string,
  host: Host,
): Promise<{ setup: ImportedConfig; name?: string | undefined; imported?: number }> {
  const type = formatOption("-t", inputType ?? "adblock", FORMAT_NAMES);
  const named = inputs.map((source) => ({ name: nameOf(source), source, type, isOn: true }));
  if (from !== undefined) {
    const imported = await movedTo(
      host.path.dirname(path),
      await readImportedConfig(from, host),
      host.path.dirname(host.path.resolve(host.cwd, from)),
      host,
    );
    const lists = [...imported.lists, ...named];
    return { setup: { ...imported, lists }, imported: imported.lists.length };
  }
  if (named.length > 0) return { setup: configOfLists("", named) };
  if (host.stdin?.isTerminal === true && host.stderr.isTerminal)
    return await askForSetup(usualName, host);
  throw new CompilerError([
    errorOf("unknown-flag", "init needs lists", {
      hint: "Import lists with --from AdGuardHome.yaml, or name URLs: rules-compiler init URL URL; on a terminal, init asks",
    }),
  ]);
}
