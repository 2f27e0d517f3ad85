import type { LineLocation } from "../../src/documents/facts.ts";
import { type ListOutcome, build } from "../../src/builder/build.ts";
import { PublishedList, openRecorded } from "../../src/builder/open-build.ts";
import type { BuildOptions } from "../../src/builder/plan/build-options.ts";
import { openProject } from "../../src/builder/plan/project.ts";
import type { Config } from "../../src/config/lists.ts";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { CompilerError } from "../../src/diagnostics/render.ts";
import { readRecorded } from "../../src/explain/recorded-rows.ts";
import { asciiName } from "../../src/explain/traffic.ts";
import { readFully } from "../../src/host/files.ts";
import type { BuildRecord } from "../../src/record/build-record.ts";
import { type BrowserHost, FOLDER, browserHost, fileOf } from "./browser-host.ts";
import type {
  Added,
  Compiled,
  GivenFile,
  ListView,
  SharedList,
  ShownLine,
  Wanted,
  Why,
  Written,
} from "./calls.ts";
import { FateTable, LineTable } from "./line-table.ts";
import { alarmViews, filesOf, listView, problemOf } from "./list-view.ts";
import { type Lists, readGiven } from "./read-given.ts";

interface BuiltList {
  readonly view: ListView;
  readonly config: Config;
  readonly record: BuildRecord;
  readonly published: PublishedList;
}

/** The lines that the page shows now. */
interface Shown {
  readonly count: number;
  at(index: number): ShownLine;
}

const OPTIONS: BuildOptions = {
  configPath: "",
  inputs: [],
  inputType: undefined,
  filter: [],
  permit: [],
  output: undefined,
  copyToRules: false,
  rulesDir: "./rules",
  memory: undefined,
  cacheDir: "/cache",
  record: true,
  offline: false,
  frozen: false,
  update: undefined,
  compat: false,
  accept: [],
};

/** The lists of the user, the last build, and answers about it. Everything is in memory. */
export class Session {
  private readonly lists: Lists = new Map();
  private host: BrowserHost = browserHost(new Map());
  private addresses: ReadonlyMap<string, string> = new Map();
  private built: BuiltList[] = [];
  private shown: Shown = NOTHING;
  /** Tables of files, because every filter starts from them. */
  private readonly tables = new Map<string, FateTable | LineTable>();

  async add(given: readonly GivenFile[]): Promise<Added> {
    return await readGiven(given, this.lists);
  }

  async remove(name: string): Promise<Added> {
    this.lists.delete(name);
    return await readGiven([], this.lists);
  }

  /** The lists in place of those that are there, as a link has them. */
  async restore(shared: readonly SharedList[]): Promise<Added> {
    await this.clear();
    for (const [name, text] of shared) this.lists.set(name, encodeUtf8(text));
    return await readGiven([], this.lists);
  }

  /** The lists for a link; undefined if they are too large for one, or not texts. */
  async texts(mostBytes: number): Promise<readonly SharedList[] | undefined> {
    const all = [...this.lists];
    if (all.reduce((sum, [, { length }]) => sum + length, 0) > mostBytes) return undefined;
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      return all.map(([name, bytes]) => [name, decoder.decode(bytes)] as const);
    } catch {
      return undefined;
    }
  }

  /** Forgets everything. */
  async clear(): Promise<Added> {
    this.lists.clear();
    this.built = [];
    this.tables.clear();
    this.host = browserHost(new Map());
    this.show(NOTHING);
    return await readGiven([], this.lists);
  }

  /** Compiles as the command line does. If guards refuse the list, it is compiled once more without them, to be looked at. */
  async compile(text: string): Promise<Compiled> {
    const started = performance.now();
    this.built = [];
    this.tables.clear();
    this.show(NOTHING);
    const configPath = /^\s*\{/.test(text) ? "configuration.jsonc" : "configuration.yaml";
    const files = new Map(this.lists).set(configPath, new TextEncoder().encode(text));
    const reading = browserHost(files);
    const { project, lists } = await openProject({ ...OPTIONS, configPath }, reading);
    const missing = this.missingOf(project.config);
    const here = project.config.sources.filter(
      ({ source }) => !missing.some(({ address }) => address === source),
    );
    const isPart = missing.length > 0 && here.length > 0 && project.config.lists === undefined;
    if (missing.length > 0 && !isPart) {
      const problems = project.warnings.map(problemOf);
      return { lists: [], problems, isRefused: false, missing, unused: [], seconds: 0 };
    }
    const options = isPart
      ? { ...OPTIONS, config: { ...project.config, sources: here } }
      : { ...OPTIONS, configPath };
    const first = await this.run(files, options);
    const refusals = first.flatMap(({ status, diagnostics }) =>
      status === "refused" ? diagnostics : [],
    );
    const accept = refusals.map(({ code }) => code);
    const outcomes = accept.length === 0 ? first : await this.run(files, { ...options, accept });
    const configs = new Map(lists.map(({ config }) => [config.name, config]));
    for (const outcome of outcomes) {
      const config = configs.get(outcome.list);
      if (outcome.report === undefined || config === undefined) continue;
      const sources = isPart ? here : config.sources;
      this.built.push(await this.opened(outcome, { ...config, sources }));
    }
    const problems = [...refusals, ...outcomes.flatMap(({ diagnostics }) => diagnostics)];
    const alarming = new Set(this.built.flatMap(({ view }) => view.alarms.map(({ at }) => at)));
    return {
      lists: this.built.map(({ view }) => view),
      // Each line is shown once.
      problems: problems
        .map(problemOf)
        .filter(({ code, at = "" }) => code !== "own-lines" || !alarming.has(at)),
      isRefused: refusals.length > 0,
      missing,
      unused: this.unusedIn(text),
      seconds: (performance.now() - started) / 1000,
    };
  }

  /** Chooses the lines to show, and returns how many there are. */
  async open(wanted: Wanted): Promise<number> {
    const { find } = wanted;
    if (wanted.kind === "file") {
      const table = this.table(wanted.path, () => new LineTable(this.host.files.get(wanted.path)!));
      const lines = table as LineTable;
      const chosen = find === "" ? undefined : lines.find(find);
      return this.show({
        count: chosen?.length ?? lines.length,
        at: (index) => {
          const line = chosen?.[index] ?? index;
          return { line: line + 1, text: lines.text(line) };
        },
      });
    }
    const tables = await this.tablesOf(wanted.list, wanted.source);
    const chosen = tables.flatMap((table) => chosenLines(table, wanted.fate, find));
    let count = 0;
    const begins = chosen.map(({ numbers, table }) => {
      const begin = count;
      count += numbers?.length ?? table.lines.length;
      return begin;
    });
    return this.show({
      count,
      at: (index) => {
        const part = begins.findLastIndex((begin) => begin <= index);
        const { table, numbers } = chosen[part]!;
        const own = index - begins[part]!;
        return table.shown(numbers?.[own] ?? own);
      },
    });
  }

  async rows(from: number, count: number): Promise<readonly ShownLine[]> {
    const length = Math.max(0, Math.min(count, this.shown.count - from));
    return Array.from({ length }, (_, index) => this.shown.at(from + index));
  }

  async why(list: number, asked: string): Promise<Why | undefined> {
    const name = asciiName(
      asked
        .trim()
        .replace(/^[a-z][a-z0-9+.-]*:\/\//i, "")
        .replace(/[/:?#].*$/, ""),
    );
    const built = this.built[list];
    if (name === "" || built === undefined) return undefined;
    const [answer] = await built.published.why(name);
    const { verdict, rule, partial, lines, unblock } = answer!;
    return {
      name,
      verdict,
      ...(rule && { rule: { text: rule.text, at: placeOf(rule) } }),
      partial: partial.map((one) => ({ text: one.text, at: placeOf(one) })),
      lines: lines.map(({ by, ...one }) => ({
        at: placeOf(one),
        text: one.text,
        fate: one.fate,
        meaning: one.meaning,
        ...(by && { by: placeOf(by) }),
      })),
      ...(unblock && { unblock }),
    };
  }

  /** Compiles the list once more, with one more format. */
  async write(list: number, format: string): Promise<Written> {
    const { config } = this.built[list]!;
    const value = { ...config, outputs: [{ format }] } as Config;
    const { files } = this.host;
    const host = browserHost(this.lists, this.addresses);
    const accept = (await import("../../src/diagnostics/codes.ts")).GUARD_NAMES;
    const options = { ...OPTIONS, config: value, record: false, accept };
    const outcome = await build({ options, host, signal: NEVER, emit: () => {} });
    const [only] = outcome.lists;
    if (only?.report === undefined) throw new CompilerError(only?.diagnostics ?? []);
    const written = only.outputs.filter((one) => one.format === format);
    const paths = only.files.slice(1).map((name) => host.path.resolve(FOLDER, name));
    for (const path of paths) files.set(path, host.files.get(path)!);
    return {
      files: paths.map((path) => ({ name: path, bytes: files.get(path)!.length })),
      losses: written
        .flatMap(({ losses }) => losses ?? [])
        .map(({ reason, count }) => `${reason} ${count}`),
    };
  }

  /** A file of the last build, to be downloaded. */
  async file(path: string): Promise<Blob> {
    return new Blob([this.host.files.get(path) as Uint8Array<ArrayBuffer>], { type: "text/plain" });
  }

  private async run(
    files: ReadonlyMap<string, Uint8Array>,
    options: BuildOptions,
  ): Promise<readonly ListOutcome[]> {
    this.host = browserHost(files, this.addresses);
    const context = { options, host: this.host, signal: NEVER, emit: () => {} };
    return (await build(context)).lists;
  }

  private async opened(outcome: ListOutcome, config: Config): Promise<BuiltList> {
    const { outputs, files, list, report } = outcome;
    const { host } = this;
    const [first] = outputs;
    const path = host.path.resolve(FOLDER, first!.file ?? "");
    const { record, file } = await openRecorded({ name: list, path }, host);
    await file.close();
    const published = new PublishedList(path, record, OPTIONS.cacheDir, host);
    const all = files.map((name) => host.path.resolve(FOLDER, name));
    const alarms = alarmViews(report!);
    const view = { ...listView(record, path, filesOf(all, host)), alarms };
    return { view, config, record, published };
  }

  private table(key: string, make: () => FateTable | LineTable): FateTable | LineTable {
    const table = this.tables.get(key) ?? make();
    this.tables.set(key, table);
    return table;
  }

  private async tablesOf(list: number, source: number): Promise<FateTable[]> {
    const { record } = this.built[list]!;
    const tables: FateTable[] = [];
    for (const [index, file] of record.header.files.entries()) {
      if (file.source !== source || file.isOwn === true) continue;
      const bytes = await readRecorded(file, OPTIONS.cacheDir, this.host, async (opened) =>
        readFully(opened, new Uint8Array(opened.size), 0),
      );
      if (bytes === undefined) continue;
      const make = (): FateTable => new FateTable(bytes, record, index);
      tables.push(this.table(`${list} ${index}`, make) as FateTable);
    }
    return tables;
  }

  /** Addresses of sources whose files are not there. Files with the same name get a number. */
  private missingOf({ sources }: Config): Compiled["missing"] {
    const addresses = [...new Set(sources.map(({ source }) => source).filter(isFetched))];
    const names = addresses.map(fileOf);
    this.addresses = new Map(
      addresses.map((address, index) => {
        const isFirst = names.indexOf(names[index]!) === index;
        return [address, isFirst ? names[index]! : `${index + 1}-${names[index]!}`];
      }),
    );
    return [...this.addresses]
      .filter(([, file]) => !this.lists.has(file))
      .map(([address, file]) => ({ address, file }));
  }

  private unusedIn(text: string): string[] {
    const named = new Set(this.addresses.values());
    return [...this.lists.keys()].filter((name) => !text.includes(name) && !named.has(name));
  }

  private show(shown: Shown): number {
    this.shown = shown;
    return shown.count;
  }
}

const NOTHING: Shown = { count: 0, at: () => ({ line: 0, text: "" }) };
const NEVER = new AbortController().signal;

function chosenLines(
  table: FateTable,
  fate: string,
  find: string,
): { table: FateTable; numbers: Uint32Array | undefined }[] {
  if (fate === "" && find === "") return [{ table, numbers: undefined }];
  const found =
    find === ""
      ? Uint32Array.from({ length: table.lines.length }, (_, one) => one)
      : table.lines.find(find);
  return [
    { table, numbers: fate === "" ? found : found.filter((one) => table.fate(one) === fate) },
  ];
}

/** Other addresses fail for the reason that the engine gives. */
function isFetched(source: string): boolean {
  return /^https?:\/\//i.test(source) && URL.canParse(source);
}

function placeOf({ source, line }: LineLocation): string {
  return `${source}:${line}`;
}
