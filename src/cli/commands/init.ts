import {
  type ImportedConfig,
  type ImportedList,
  KNOWN_LISTS,
  USER_RULES,
  configOfLists,
  configText,
  countOwnRules,
  filesOfSetup as filesOf,
  inspectLists,
  isAddress,
  isFetchable,
  isUsedList as isUsed,
  nameOfSource as nameOf,
  neededNames,
  problemOfList as problemOf,
  readImportedConfig,
  withFiles,
  withoutRepeats,
} from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import {
  countText,
  printable,
  someOf,
  webHint,
  withoutCredentials,
} from "../../diagnostics/text.ts";
import { writeText } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";
import { FORMAT_NAMES, OUTPUT_FORMATS } from "../../index.ts";
import { CONFIG_NAMES, NEW_CONFIG, configsIn } from "../flags/found-config.ts";
import { flagsOf } from "../flags/help.ts";
import { type Options, formatOption } from "../flags/options.ts";
import type { Reporter } from "../output/reporter.ts";
import { sendDocument } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Writes a configuration, and a file for the user's own rules if there are any. */
export const initCommand: Command = async (options, host, reporter, signal) => {
  const questions = new Questions(host, signal);
  try {
    return await init(options, questions, { host, reporter, signal });
  } finally {
    await questions.end();
  }
};

interface Surroundings {
  readonly host: Host;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

async function init(
  options: Options,
  questions: Questions,
  { host, reporter, signal }: Surroundings,
): Promise<Exit> {
  const { args } = options;
  const addresses = args.operands.filter(isAddress);
  const files = args.operands.filter((word) => !isAddress(word));
  const [file = NEW_CONFIG, ...more] = files;
  if (more.length > 0 || !/^\.ya?ml$/i.test(host.path.extname(file)))
    throw new CompilerError([
      errorOf("wrong-usage", "init writes one file, which ends in .yaml or .yml", {
        hint: "Name a local list with -i: rules-compiler init -i FILE",
        ...files.map(webHint).find(({ hint }) => hint !== undefined),
      }),
    ]);
  const path = host.path.resolve(host.cwd, file);
  // If both default files exist, only the first is read.
  const isDefault = files.length === 0;
  const [taken] = isDefault ? await configsIn(host.cwd, host) : [];
  if (taken !== undefined || (await host.exists(path)))
    throw new CompilerError([
      errorOf("file-exists", `${printable(taken ?? file)} already exists`, {
        hint: "Name another file, such as: rules-compiler init home.yaml",
      }),
    ]);
  refuseBadAddresses([...options.inputs, ...addresses]);
  const { format: formats, name: givenName, from } = flagsOf("init", args);
  for (const format of formats) formatOption("--format", format, OUTPUT_FORMATS);
  const usualName = nameFor(host.path.basename(file));
  const inputs = [...options.inputs, ...addresses];
  const asked = await setupOf({ ...options, inputs, from, usualName }, path, host, questions);
  const wanted = withoutRepeats(asked.setup.lists, asked.imported ?? 0);
  for (const source of wanted.repeated)
    reporter.info(`named more than once, used once: ${withoutCredentials(source)}`);
  const name = givenName ?? asked.name ?? asked.setup.name ?? usualName;
  if (wanted.lists.every(({ isOn }) => !isOn) && asked.setup.userRules.length === 0)
    throw new CompilerError([
      errorOf("wrong-usage", "No list is enabled there; add lists with -i"),
    ]);
  const count = wanted.lists.filter(({ isOn }) => isOn).length;
  reporter.info(`checking ${countText(count, "list")}`);
  const seen = await inspectLists(
    { ...asked.setup, lists: wanted.lists },
    host.path.dirname(path),
    { ...options, signal },
    host,
  );
  const setup = await withConsent(seen, questions);
  const hasOwn = setup.userRules.length > 0;
  const folder = host.path.dirname(path);
  const userRulesFile = await freeName(USER_RULES, folder, host);
  const groupFiles = new Map<string, string>();
  for (const [group, { userRules }] of setup.groupRules ?? [])
    if (userRules.length > 0)
      groupFiles.set(group, await freeName(fileOf(group, groupFiles), folder, host));
  const allFormats = [...new Set([...(setup.formats ?? []), ...formats])];
  await writeText(
    path,
    configText({ name, setup, formats: allFormats, userRulesFile, groupFiles }),
    host,
  );
  if (hasOwn)
    await writeText(
      host.path.join(host.path.dirname(path), userRulesFile),
      `${setup.userRules.join("\n")}\n`,
      host,
    );
  for (const [group, groupFile] of groupFiles) {
    const text = `${setup.groupRules!.get(group)!.userRules.join("\n")}\n`;
    await writeText(host.path.join(folder, groupFile), text, host);
  }
  const { style } = reporter;
  const lists = setup.lists.filter(isUsed).length;
  reporter.info(
    `${style.good("written")} ${style.strong(printable(file))}: ${countText(lists, "source")}${hasOwn ? `, and ${countText(countOwnRules(setup.userRules), "own rule")} in ${userRulesFile}` : ""}`,
  );
  const commentedOut = [...setup.lists, ...filesOf(setup)]
    .filter((list) => list.isOn && !isUsed(list))
    .map((list) => ({ label: list.name, problem: problemOf(list) ?? "" }));
  for (const { label, problem } of commentedOut)
    reporter.info(
      `  ${style.warning(`commented out: ${printable(label, 60)}: ${printable(problem, 300)}`)}`,
    );
  for (const note of setup.notes) reporter.info(`  ${style.warning(printable(note, 400))}`);
  const isFound = isDefault && !host.env["CONFIG_PATH"];
  const words = isFound ? "rules-compiler" : `rules-compiler -c ${printable(file)}`;
  reporter.info(`compile it: ${style.strong(words)}`);
  if (options.json) {
    const own = hasOwn
      ? { ownRules: countOwnRules(setup.userRules), ownRulesFile: userRulesFile }
      : {};
    const { notes } = setup;
    const document = { list: name, file, sources: lists, ...own, commentedOut, notes };
    await sendDocument({ lists: [document] }, host);
  }
  return Exit.Done;
}

/** The name of the list in a new file. Lists with the same name would replace each other. */
function nameFor(file: string): string {
  return CONFIG_NAMES.includes(file) ? "My list" : file.replace(/\.[^.]*$/, "");
}

/** Throws a `CompilerError` if nothing can be fetched from a URL. */
function refuseBadAddresses(sources: readonly string[]): void {
  const bad = sources.filter(
    (source) => source === "" || (isAddress(source) && !isFetchable(source)),
  );
  if (bad.length === 0) return;
  const shown = bad.map((source) => withoutCredentials(source) || "an empty text");
  throw new CompilerError([
    errorOf("wrong-usage", `Not the URL of a list: ${someOf(shown)}`, {
      hint: "A URL starts with https:// or http:// and a host; name a local list by its path",
    }),
  ]);
}

/** The file for the rules of a group; its number keeps it apart from those of groups with a similar name. */
function fileOf(group: string, others: ReadonlyMap<string, string>): string {
  const words = group.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = USER_RULES.replace(/(?=\.[^.]*$)/, ["", ...words].join("-").slice(0, 60));
  const isTaken = name === USER_RULES || [...others.values()].includes(name);
  return isTaken ? name.replace(/(?=\.[^.]*$)/, `-group-${others.size + 1}`) : name;
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

interface SetupRequest extends Pick<Options, "inputs" | "inputType"> {
  readonly from: string | undefined;
  /** The name if the user gives none. */
  readonly usualName: string;
}

async function setupOf(
  { from, inputs, inputType, usualName }: SetupRequest,
  path: string,
  host: Host,
  questions: Questions,
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
  if (questions.canAsk) return await askForSetup(usualName, host, questions);
  throw new CompilerError([
    errorOf("wrong-usage", "init needs lists", {
      hint: "Import lists with --from AdGuardHome.yaml, or name URLs: rules-compiler init URL URL; on a terminal, init asks",
    }),
  ]);
}

/** Questions in the terminal. */
class Questions {
  private readonly host: Host;
  private readonly signal: AbortSignal;
  private answers: AsyncGenerator<string> | undefined;

  constructor(host: Host, signal: AbortSignal) {
    this.host = host;
    this.signal = signal;
  }

  get canAsk(): boolean {
    return this.host.stdin?.isTerminal === true && this.host.stderr.isTerminal;
  }

  /** Rejects with a `CompilerError` if there is no answer. */
  async ask(question: string): Promise<string> {
    this.host.stderr.write(question);
    this.answers ??= eachLine(this.host.stdin!.lines(this.signal));
    const { value, done } = await this.answers.next();
    if (done === true)
      throw new CompilerError([errorOf("wrong-usage", "No answer; nothing was written")]);
    return withoutKeys(value).trim();
  }

  async end(): Promise<void> {
    await this.answers?.return(undefined);
  }
}

/** Asks the user in the terminal for a name and for lists. */
async function askForSetup(
  usualName: string,
  host: Host,
  questions: Questions,
): Promise<{ setup: ImportedConfig; name: string }> {
  const name = (await questions.ask(`Name of the list [${printable(usualName)}]: `)) || usualName;
  const width = Math.max(...KNOWN_LISTS.map((one) => one.name.length));
  for (const [index, one] of KNOWN_LISTS.entries())
    host.stderr.write(`  ${index + 1}  ${one.name.padEnd(width)}  ${one.what}\n`);
  for (;;) {
    const question = "Which? Numbers, URLs or files, separated by spaces [1]: ";
    const words = ((await questions.ask(question)) || "1")
      .split(/[\s,]+/)
      .filter((word) => word !== "");
    const chosen = words.map((word) => listOf(word));
    const unknown = chosen.findIndex((one) => one === undefined);
    if (unknown === -1)
      return {
        setup: configOfLists(
          "",
          chosen.map((one) => one!),
        ),
        name,
      };
    const word = words[unknown]!;
    const what = isAddress(word) ? "not the URL of a list" : "unknown number";
    host.stderr.write(`  ${what}: ${printable(word, 60)}\n`);
  }
}

/**
 * Lists that block social networks, games and the like on purpose may go on with it, if the user says so; otherwise these names
 * stay reachable. Without an answer the configuration has both in a comment.
 */
async function withConsent(setup: ImportedConfig, questions: Questions): Promise<ImportedConfig> {
  const mayBlock: string[] = [];
  const allow = [...setup.allow];
  const notes = [...setup.notes];
  for (const [kind, { names, lists }] of neededNames(setup.lists)) {
    const apexes = [...names].filter(
      (name) => !name.startsWith("www.") || !names.has(name.slice(4)),
    );
    const what = `${kind} (${someOf(apexes)})`;
    const by = someOf(lists);
    const isOne = lists.length === 1;
    if (!questions.canAsk)
      notes.push(
        `${by} ${isOne ? "blocks" : "block"} ${what}. If that is intended, write guards: { may_block: [${kind}] }; otherwise add the names to allow.`,
      );
    else if (
      /^n/i.test(await questions.ask(`Block ${what}, as ${by} ${isOne ? "does" : "do"}? [Y/n]: `))
    )
      allow.push(...names);
    else mayBlock.push(kind);
  }
  const freed = allow.slice(setup.allow.length);
  const groupRules = new Map(
    Array.from(setup.groupRules ?? [], ([group, own]) => [
      group,
      { ...own, allow: [...own.allow, ...freed] },
    ]),
  );
  return { ...setup, allow, notes, groupRules, ...(mayBlock.length === 0 ? {} : { mayBlock }) };
}

/** Removes keys such as Home and the arrows, which are not part of an answer. */
function withoutKeys(line: string): string {
  // oxlint-disable-next-line no-control-regex
  return line.replaceAll(/\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z]|.)?|[\u0000-\u001f\u007f]/g, "");
}

async function* eachLine(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const lines of batches) yield* lines;
}

function listOf(word: string): ImportedConfig["lists"][number] | undefined {
  if (isAddress(word) && !isFetchable(word)) return undefined;
  if (!/^\d+$/.test(word)) return { name: nameOf(word), source: word, type: "adblock", isOn: true };
  const known = KNOWN_LISTS[Number(word) - 1];
  return known && { name: known.name, source: known.source, type: known.type, isOn: true };
}
