import { type Code, codeEntry } from "../diagnostics/codes.ts";
import { type Diagnostic, type FileLocation, errorOf, warningOf } from "../diagnostics/render.ts";
import { nearest, printable, someOf } from "../diagnostics/text.ts";
import { isIpv4Text, isIpv6Text } from "../syntax/hosts-line.ts";
import type { Field } from "./fields.ts";
import type { Config, SourceConfig } from "./lists.ts";
import { FIT_FIELD, MOST_COMBINED_LISTS } from "./outputs.ts";
import { feedProblems, isFeed } from "./sources.ts";

/** The 42 bytes of a key: the letters Ed, its number, and the key itself. */
const PUBLIC_KEY = /^RW[Q-T][A-Za-z0-9+/]{53}$/;

/** Problems of a source whose fields have the right types. */
export function* sourceProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  yield* feedProblems(source, at);
  yield* keepProblems(source, at);
  const { auth, headers_file, key } = source;
  const isAddress = /^https?:\/\//i.test(source.source);
  if ((auth !== undefined || headers_file !== undefined) && !isAddress)
    yield { message: `${at} has keys, but no URL`, hint: "Remove auth and headers_file" };
  if (key !== undefined && !isAddress)
    yield { message: `${at} has a key, but no URL`, hint: "Remove key: files are not signed" };
  const keys = key === undefined ? [] : [key].flat();
  if (key !== undefined && (keys.length === 0 || !keys.every((one) => PUBLIC_KEY.test(one))))
    yield {
      message: `${at}.key is not a public key of minisign`,
      hint: "Write the second line of its .pub file, which begins with RW",
    };
  if (auth !== undefined && Object.keys(auth).length !== 1)
    yield {
      message: `${at}.auth must have either bearer_file or basic_file`,
      hint: "Other headers go into headers_file",
    };
}

/** The same for a source of a list. */
export function* blockedSourceProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  yield* sourceProblems(source, at);
  const { type = "adblock" } = source;
  if (type === "tranco" || type === "umbrella")
    yield {
      message: `${at}.type is ${type}, a list of popular names, which would all be blocked`,
      hint: "Move it to ranks; to block its names anyway, write type: csv with column: 2",
    };
}

/** Lines of other formats mean something only beside the lines around them. */
const KEEPABLE: ReadonlySet<string> = new Set(["adblock", "hosts", "domains"]);

function* keepProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  const { type = "adblock", remember, max_age } = source;
  if (remember !== undefined && !KEEPABLE.has(type) && !isFeed(source))
    yield {
      message: `${at}.remember is not for type ${type}`,
      hint: "It is for feeds, adblock, hosts and domains",
    };
  if (max_age !== undefined && remember === undefined)
    yield { message: `${at}.max_age needs remember`, hint: "Write how long rules are remembered" };
}

interface ConfigProblem {
  readonly message: string;
  readonly hint: string;
}

/** Problems of `fit`. Ranks begin with 1: with less, every rule that blocks would be dropped. */
export function* fitProblems({ lists = [], ...top }: Config): Generator<ConfigProblem> {
  const levels = [{ ...top, at: "" }, ...lists.map((one, at) => ({ ...one, at: `lists[${at}].` }))];
  for (const { fit = {}, outputs = [], at } of levels) {
    if (fit.top !== undefined && fit.top < 1)
      yield {
        message: `${at}fit.top is ${fit.top}, which no name has as its rank`,
        hint: "Write 1 or more, or remove the field",
      };
    for (const key of keysOf(fit, "output"))
      yield { message: `${at}fit.${key} is for outputs`, hint: "Move it to an entry of outputs" };
    for (const [index, output] of outputs.entries())
      for (const key of keysOf(output.fit ?? {}, "list"))
        yield {
          message: `${at}outputs[${index}].fit.${key} is for lists`,
          hint: "Move it to the list; add an entry of lists for a smaller one",
        };
  }
}

/** The keys of `fit` that only lists or only outputs have. */
function keysOf(fit: NonNullable<Config["fit"]>, of: Field["of"]): string[] {
  const fields: Readonly<Record<string, Field>> = FIT_FIELD.fit.fields;
  return Object.keys(fit).filter((key) => fields[key]!.of === of);
}

/** Printable ASCII without what no escape helps for: AdGuard Home compares other names byte by byte, and wrongly. */
const CLIENT = /^(?! )[\u0020-\u007e]*(?<! )$/;
const LIKE_ADDRESS = /^[\d.]+(?:\/.*)?$|^[\da-f]*:[\da-f:.]*(?:\/.*)?$/i;
const LIKE_MAC = /^[\da-f]{2}(?:[:-][\da-f]{2}){5,7}$/i;

/** Problems of `clients` and `tags` of outputs. */
export function* deviceProblems({
  outputs = [],
}: Pick<Config, "outputs">): Generator<OutputProblem> {
  for (const [index, { format, clients, tags }] of outputs.entries())
    for (const [field, entries] of Object.entries({ clients, tags })) {
      if (entries === undefined) continue;
      const at = `outputs[${index}].${field}`;
      if (format !== "adblock")
        yield {
          index,
          field,
          message: `${at} is for format adblock, not ${format}`,
          hint: "Other resolvers choose lists by groups, tags or views of their own settings",
        };
      else if (entries.length === 0)
        yield {
          index,
          field,
          message: `${at} is empty`,
          hint: "Name a device, or remove the field",
        };
      for (const client of field === "clients" ? entries : []) {
        const hint = clientProblem(client);
        const message = `${at} has ${printable(client, 60) || "an empty text"}, which a rule cannot name`;
        if (hint !== undefined) yield { index, field, message, hint };
      }
    }
}

/** The same for the outputs of `lists`. */
export function* listDeviceProblems({ lists = [] }: Config): Generator<OutputProblem> {
  for (const [index, list] of lists.entries())
    for (const { message, hint } of deviceProblems(list))
      yield { index, field: "outputs", message: `lists[${index}].${message}`, hint };
}

interface OutputProblem extends ConfigProblem {
  readonly index: number;
  readonly field: string;
}

/** What to write instead; undefined for a good client. */
function clientProblem(client: string): string | undefined {
  if (LIKE_MAC.test(client))
    return "AdGuard Home's rules have no MAC addresses; use the client's name from its settings";
  if (LIKE_ADDRESS.test(client))
    return isRange(client) ? undefined : "Write an IP address, or a range such as 192.168.1.0/24";
  if (client === "" || !CLIENT.test(client) || /[\\%]/.test(client))
    return "Use its IP address or a tag; names have ASCII letters, digits and signs except \\ and %";
  return undefined;
}

function isRange(text: string): boolean {
  const [address = "", length, ...more] = text.split("/");
  const most = isIpv4Text(address) ? 32 : isIpv6Text(address) ? 128 : -1;
  if (most === -1 || more.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= most);
}

const needsRanks = ({ expand }: Pick<Config, "expand">): boolean =>
  expand !== undefined && expand.names === undefined && expand.logs === undefined;

/** Settings that need `ranks`, in a configuration without it. */
export function* unrankedProblems({ ranks = [], ...config }: Config): Generator<ConfigProblem> {
  if (ranks.length > 0) return;
  const levels = [config, ...(config.lists ?? [])];
  const used = [
    levels.some(needsRanks) && "expand without names or logs",
    levels.some(({ fit }) => fit?.top !== undefined) && "fit.top",
    levels.some(({ guards }) => guards?.newly_blocks !== undefined) && "guards.newly_blocks",
  ];
  for (const what of used)
    if (what !== false)
      yield {
        message: `${what} needs ranks`,
        hint: "Add ranks: [top-1m.csv.zip], a list of popular names",
      };
}

/** Problems of `combined` in a configuration that is otherwise valid. */
export function combinedProblems({
  combined = [],
  lists,
}: Config): { message: string; hint?: string }[] {
  if (combined.length === 0) return [];
  if (lists === undefined)
    return [
      { message: "combined needs several lists", hint: "Add `lists`, or use `outputs` instead" },
    ];
  const names = lists.map(({ name }) => name);
  const problems: { message: string; hint?: string }[] = [];
  for (const [index, { lists: wanted = names, file }] of combined.entries()) {
    const at = `combined[${index}]`;
    for (const name of wanted) {
      if (names.includes(name)) continue;
      const meant = nearest(name, names);
      problems.push({
        message: `${at} has the list ${printable(name, 80)}, which does not exist`,
        hint:
          meant === undefined
            ? `Lists: ${someOf(names.map((one) => printable(one, 60)))}`
            : `Did you mean "${printable(meant, 80)}"?`,
      });
    }
    if (new Set(wanted).size !== wanted.length)
      problems.push({ message: `${at} has a list twice`, hint: "Name every list once" });
    if (wanted.length > MOST_COMBINED_LISTS)
      problems.push({
        message: `${at} has ${wanted.length} lists; at most ${MOST_COMBINED_LISTS} are possible`,
        hint: "Write several entries with fewer lists",
      });
    if (combined.findIndex((one) => one.file === file) !== index)
      problems.push({ message: `${at} has the file of another entry: ${printable(file, 80)}` });
  }
  return problems;
}

const FALLBACKS: Readonly<Record<string, string>> = {
  name: "Without a name, the URL or file is the label",
  type: "Without a type, a source is read as adblock",
};

/** One note for all, which `validate` shows. A source with an address alone is complete. */
export function reportIncomplete(
  items: readonly ConfigNode[],
  path: string,
  problems: ConfigProblems,
): void {
  const found = incompleteSources(items, path);
  if (found === undefined) return;
  const { message, hint, offset } = found;
  const { at } = problems.at(offset);
  // Omits the frame, because the line does not show the problem.
  const { frame: _, ...place } = at ?? { file: "" };
  const where = at === undefined ? {} : { at: place };
  problems.report(() => ({ code: "source-incomplete", severity: "note", message, hint, ...where }));
}

/** The message about sources without a name or a type, and the first such source, or undefined. */
function incompleteSources(
  items: readonly ConfigNode[],
  path: string,
): { readonly message: string; readonly hint: string; readonly offset: number } | undefined {
  const keys = Object.keys(FALLBACKS).filter((key) => items.some((item) => lacks(item, key)));
  const found = items.flatMap((item, index) =>
    keys.some((key) => lacks(item, key)) ? [{ item, label: `${path}[${index}]` }] : [],
  );
  if (found.length === 0) return undefined;
  const labels = found.map(({ label }) => label);
  const what =
    found.length === 1 ? `has no ${keys.join(" and no ")}` : `have no ${keys.join(" or no ")}`;
  return {
    message: `${someOf(labels)} ${what}`,
    hint: keys.map((key) => FALLBACKS[key]).join(". "),
    offset: found[0]!.item.offset,
  };
}

function lacks(item: ConfigNode, key: string): boolean {
  if (item.kind !== "object" || item.entries.length === 1) return false;
  return !item.entries.some((entry) => entry.key === key);
}

/** A configuration as a tree with the offset of each part in the file: common to JSON, JSONC and YAML. */
export type ConfigNode =
  | { readonly kind: "object"; readonly offset: number; readonly entries: readonly ConfigEntry[] }
  | { readonly kind: "array"; readonly offset: number; readonly items: readonly ConfigNode[] }
  | {
      readonly kind: "scalar";
      readonly offset: number;
      readonly value: string | number | boolean | null;
    };

export interface ConfigEntry {
  readonly key: string;
  readonly keyOffset: number;
  readonly node: ConfigNode;
}

/** Fields that a configuration must have, as YAML and JSON write them. */
const EXAMPLES: Readonly<Record<string, string>> = {
  name: '"name": "My list"',
  sources: '"sources": [{ "source": "own.txt" }], with your URL or file',
};

/** A syntax error, its offset, and what to do about it. */
export class ConfigSyntaxError extends Error {
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(message: string, offset: number, hint?: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

/** More than any real configuration needs; protects against bombs. */
export const MAX_DEPTH = 32;
export const MAX_NODES = 100_000;

/** The tree of a configuration that is an object, not a file. */
export function nodeOfValue(value: unknown, depth = 0): ConfigNode {
  if (depth > MAX_DEPTH) throw new ConfigSyntaxError("it is nested too deeply", 0);
  if (Array.isArray(value))
    return { kind: "array", offset: 0, items: value.map((item) => nodeOfValue(item, depth + 1)) };
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return {
      kind: "object",
      offset: 0,
      entries: entries.map(([key, item]) => ({
        key,
        keyOffset: 0,
        node: nodeOfValue(item, depth + 1),
      })),
    };
  }
  // Values that JSON lacks (functions, symbols) become null, which validation rejects.
  const isScalar = value === null || ["string", "number", "boolean"].includes(typeof value);
  return { kind: "scalar", offset: 0, value: isScalar ? (value as string) : null };
}

const MAX_PROBLEMS = 50;

/** The problems of a configuration. There is a limit: locating each takes time, and users do not fix a thousand at once. */
export class ConfigProblems {
  readonly diagnostics: Diagnostic[] = [];
  /** Also set by errors beyond the limit. */
  hasErrors = false;
  private reported = 0;
  private unknownKeys = 0;
  private readonly locate: ((offset: number) => FileLocation) | undefined;

  constructor(locate: ((offset: number) => FileLocation) | undefined) {
    this.locate = locate;
  }

  /** Reports unknown keys and missing ones; an unknown key that is meant to be a missing one is reported once. */
  keys(
    node: ConfigNode & { kind: "object" },
    fields: Readonly<Record<string, Field>>,
    path: string,
  ): void {
    const known = Object.keys(fields);
    const given = new Set(node.entries.map(({ key }) => key));
    const missing = new Set(known.filter((key) => fields[key]!.required && !given.has(key)));
    for (const entry of node.entries) {
      if (Object.hasOwn(fields, entry.key)) continue;
      if (++this.unknownKeys > MAX_PROBLEMS) break;
      const meant = nearest(entry.key, known);
      if (meant !== undefined && missing.delete(meant))
        this.missing(meant, path, {
          offset: entry.keyOffset,
          hint: `Rename "${printable(entry.key, 60)}" to "${meant}"`,
        });
      else this.unknownKey(entry, path, meant);
    }
    for (const key of missing)
      this.missing(key, path, { offset: node.offset, hint: `Add ${EXAMPLES[key] ?? `"${key}"`}` });
  }

  private unknownKey(entry: ConfigEntry, path: string, meant: string | undefined): void {
    const hint = meant === undefined ? "It is ignored; remove it" : `Did you mean "${meant}"?`;
    const message = `Unknown key: ${path}${printable(entry.key, 60)}`;
    this.diagnostics.push(warningOf("unknown-key", message, { hint, ...this.at(entry.keyOffset) }));
  }

  private missing(key: string, path: string, at: { offset: number; hint: string }): void {
    const subject = path === "" ? key : `${key} of ${path.replace(/\.$/, "")}`;
    this.error("config-required", at.offset, `${subject} is required`, at.hint);
  }

  invalid(offset: number, what: string, hint?: string): void {
    this.error("config-invalid", offset, `Invalid configuration: ${what}`, hint);
  }

  error(code: Code, offset: number, message: string, hint?: string): void {
    this.hasErrors = true;
    this.report(() =>
      errorOf(code, message, { ...(hint === undefined ? {} : { hint }), ...this.at(offset) }),
    );
  }

  /** Reports an entry of the form `/…/` that is not a regular expression. */
  checkRegex(entry: string, offset: number): void {
    const cause = regexProblem(entry);
    if (cause === undefined) return;
    const message = `Invalid configuration: ${printable(entry)} is not a regular expression`;
    this.hasErrors = true;
    this.report(() => errorOf("bad-regex-entry", message, { cause, ...this.at(offset) }));
  }

  report(make: () => Diagnostic): void {
    if (this.reported < MAX_PROBLEMS) this.diagnostics.push(make());
    this.reported++;
  }

  at(offset: number): { at?: FileLocation } {
    return this.locate === undefined ? {} : { at: this.locate(offset) };
  }
}

/** The engine's message about an invalid entry of the form `/…/`. */
function regexProblem(entry: string): string | undefined {
  if (entry.length <= 2 || !entry.startsWith("/") || !entry.endsWith("/")) return undefined;
  try {
    return new RegExp(entry.slice(1, -1), "im") instanceof RegExp ? undefined : "";
  } catch (error) {
    return printable(error instanceof Error ? error.message : String(error));
  }
}

export const WITHOUT_QUOTES = "Write it without quotes";

/** Whether a value would have the right type without its quotes. */
export function isQuoted(node: ConfigNode, form: RegExp): boolean {
  return node.kind === "scalar" && typeof node.value === "string" && form.test(node.value);
}

/** What to write in place of a value that is not a string. */
export function textHint(node: ConfigNode): string {
  return node.kind === "scalar" && node.value !== null ? "Put it in quotes" : "Give it a string";
}

/** Reports home pages that are not addresses of the web. */
export function reportHomepages(
  root: ConfigNode & { kind: "object" },
  configs: readonly Config[],
  problems: ConfigProblems,
): void {
  const { offset } = root.entries.find(({ key }) => key === "homepage")?.node ?? root;
  for (const text of new Set(configs.map(({ homepage = "" }) => homepage))) {
    if (text === "" || isWebAddress(text)) continue;
    const message = `homepage is not an http: or https: URL: ${printable(text, 60)}`;
    const { hint } = codeEntry("homepage-not-url");
    problems.report(() => warningOf("homepage-not-url", message, { hint, ...problems.at(offset) }));
  }
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}
