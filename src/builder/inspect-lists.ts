import { hashName, hashText } from "../bytes/hash.ts";
import { LF, decodeUtf8, encodeUtf8, indexOfBytes, lineEnd } from "../bytes/text.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { countText, printable } from "../diagnostics/text.ts";
import type { SourceOptions } from "../engine/compile-options.ts";
import { slugOf } from "../engine/plan.ts";
import { householdKinds, isAcceptedKind } from "../engine/protected-names.ts";
import { SourceReader, inspectSource } from "../engine/source-reader.ts";
import { DatasetLines, type TakeRows } from "../explain/dataset-lines.ts";
import { type ListChange, hasSameRules, listChange } from "../explain/list-change.ts";
import { ListRules } from "../explain/list-rules.ts";
import { MappedNames, inList } from "../explain/why.ts";
import { isForBrowsers } from "../features/source-findings.ts";
import { outputFailed, sendToOutput, writeWhole } from "../host/files.ts";
import { type Host, HostError, type NewFile, type Packing } from "../host/host.ts";
import { packerOf, taken } from "../host/node-pack-file.ts";
import { nodeHost } from "../host/node.ts";
import { USER_RULES_NAME, isUsed, ownRulesOf, problemOf } from "../import/config-text.ts";
import {
  type FoundList,
  type ImportedConfig,
  type ImportedList,
  filesOf,
  withFiles,
  withTitles,
  withUniqueNames,
} from "../import/hostlist-compiler.ts";
import { OBSERVATIONS_FILE, Observations, dayOf } from "../liveness/observations.ts";
import { Verdicts, livenessFacts } from "../liveness/verdict.ts";
import { namesOfLine } from "../meaning/line.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { OutputFile } from "../publish/list-file.ts";
import { releaseStateProblems, verifyManifest, writeReleaseState } from "../publish/manifest.ts";
import { HistoryLog, isJournal, journalPath, recordFolder } from "../record/record-file.ts";
import { isAddress } from "../sources/limits.ts";
import { registrableDomain } from "../syntax/host-name.ts";
import { eachWrittenName } from "../syntax/written-names.ts";
import { type BuildOptions, type ProjectOptions, configFileOf } from "./plan/build-options.ts";
import type { ListPlan } from "./plan/list-plan.ts";
import { changedFiles } from "./publish/planned-files.ts";
import {
  type BuildEntry,
  type KeptState,
  buildsOf,
  lastBuild,
  openLastBuild,
  wholeBuild,
} from "./state/kept-builds.ts";
import type {
  LogEvent,
  Manifest,
  NameLiveness,
  NameRank,
  RuleInList,
  Verdict,
} from "../documents/facts.ts";

const EXCEPTION = encodeUtf8("@@");
/** Other formats have a different syntax for exceptions. */
const WRITES_EXCEPTIONS = new Set(["adblock", "hosts", "domains"]);

interface LookOptions extends Pick<BuildOptions, "cacheDir" | "offline"> {
  readonly signal: AbortSignal;
}

/**
 * Adds the current state of each list: whether it can be read, from where, and what it contains. If no server responds at all,
 * the network is probably down, so no URL counts as dead. Rejects with a `CompilerError` if servers respond and no source
 * remains.
 */
export async function inspectLists(
  setup: ImportedConfig,
  configFolder: string,
  { cacheDir, offline, signal }: LookOptions,
  host: Host,
): Promise<ImportedConfig> {
  let isDown = true;
  const watched: Host = {
    ...host,
    fetch: async (request) => {
      const response = await host.fetch(request);
      isDown = false;
      return response;
    },
  };
  const reader = new SourceReader(watched, { cacheDir, offline, configFolder, signal });
  const look = (lists: readonly ImportedList[], kind?: ListWish): Promise<ImportedList[]> =>
    Promise.all(
      lists.map(async (list) =>
        list.isOn
          ? { ...list, found: await found(list, reader, isInverted(list) ? undefined : kind) }
          : list,
      ),
    );
  const isInverted = (list: ImportedList): boolean =>
    [setup, list].some(({ settings }) => settings?.transformations?.includes("InvertAllow"));
  try {
    const files = await withFiles(setup, (lists) => look(lists));
    const lists = await look(files.lists, { mayBlock: [], isRequired: false });
    // An abort makes working lists fail, so their results are not usable.
    signal.throwIfAborted();
    const groups = [...(setup.groupRules?.keys() ?? [])];
    const own = [
      ...(setup.userRules.length > 0 ? [USER_RULES_NAME] : []),
      ...groups.map(ownRulesOf),
    ];
    const named = withUniqueNames(withTitles(lists), own);
    const sorted = withBrowserNotes(withAllowLists({ ...files, lists: named }));
    const sure = await withoutDoubt(sorted, isDown, offline);
    if (sure.userRules.length === 0 && !sure.lists.some(isUsed))
      throw new CompilerError(sure.lists.flatMap(({ found: one }) => one?.failure ?? []));
    return sure;
  } finally {
    reader.close();
  }
}

/** Removes uncertain findings: URLs are not dead if the network is down, nor missing files if no source would remain. */
async function withoutDoubt(
  setup: ImportedConfig,
  isDown: boolean,
  offline: boolean,
): Promise<ImportedConfig> {
  const all = [...setup.lists, ...filesOf(setup)].filter(({ isOn }) => isOn);
  const isEmpty = setup.userRules.length === 0 && !setup.lists.some(isUsed);
  const hasAddress = all.some((list) => isAddress(list.source) && isUsed(list));
  // Without a request, a copy in the cache says nothing about the network.
  const isUnsure = isDown && (offline || !hasAddress);
  const doubtful = all.filter((list) =>
    isUsed(list) ? false : isAddress(list.source) ? isUnsure : isEmpty,
  );
  const [first] = doubtful;
  if (first === undefined) return setup;
  const kept = (lists: readonly ImportedList[]): ImportedList[] =>
    lists.map((list) =>
      doubtful.includes(list) ? { ...list, found: { ...list.found!, failure: undefined } } : list,
    );
  const note = `${countText(doubtful.length, "list")} could not be read and ${doubtful.length === 1 ? "was" : "were"} not checked: ${problemOf(first)}`;
  return {
    ...(await withFiles({ ...setup, lists: kept(setup.lists) }, kept)),
    notes: [...setup.notes, note],
  };
}

/** Moves what is not a block-list to the lists of names that stay reachable, if a source remains. */
function withAllowLists(setup: ImportedConfig): ImportedConfig {
  const allowLists = setup.lists.filter(isAllowList);
  const lists = setup.lists.filter((list) => !isAllowList(list));
  if (allowLists.length === 0 || (setup.userRules.length === 0 && !lists.some(isUsed)))
    return setup;
  return {
    ...setup,
    lists,
    allowLists: [
      ...setup.allowLists,
      ...allowLists.map((list) => ({ ...list, found: { ...list.found!, failure: undefined } })),
    ],
    notes: [
      ...setup.notes,
      ...allowLists.map(({ name }) => `${name} is an allow-list, so it is in allow_sources`),
    ],
  };
}

/** Names that people need and that lists to use block, by their kinds. */
export function neededNames(lists: readonly ImportedList[]): Map<string, NeededNames> {
  const kinds = new Map<string, { names: Set<string>; lists: string[] }>();
  for (const { name, found: one } of lists.filter(isUsed))
    for (const [kind, names] of one?.needed ?? []) {
      const known = kinds.get(kind) ?? { names: new Set(), lists: [] };
      for (const each of names) known.names.add(each);
      known.lists.push(name);
      kinds.set(kind, known);
    }
  return kinds;
}

export interface NeededNames {
  readonly names: ReadonlySet<string>;
  /** The lists that block them. */
  readonly lists: readonly string[];
}

function withBrowserNotes(setup: ImportedConfig): ImportedConfig {
  const notes = setup.lists.flatMap(({ name, found: one }) =>
    one?.forBrowsers === undefined
      ? []
      : [
          `${name} is made for browsers: a resolver cannot use about ${one.forBrowsers} % of its lines. Look for its edition for DNS.`,
        ],
  );
  return { ...setup, notes: [...setup.notes, ...notes] };
}

function isAllowList({ found: one }: ImportedList): boolean {
  return one?.failure?.code === "source-not-blocklist" || one?.onlyAllows === true;
}

/** With `mayBlock`, a list must be a block-list. */
type ListWish = Pick<SourceOptions, "mayBlock" | "isRequired">;

async function found(
  { source, type }: ImportedList,
  reader: SourceReader,
  kind?: ListWish,
): Promise<FoundList> {
  const content = new ListContent(!isAddress(source) || !WRITES_EXCEPTIONS.has(type));
  const look = async (allowPrivate: boolean): Promise<Look> => {
    try {
      const wish = { source, allowPrivate, ...(kind && { ...kind, type }) };
      const state = await inspectSource(reader, wish, (text) => content.take(text));
      return { isThere: true, causes: state.kind === "stale" ? state.causes : [] };
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      return { isThere: false, causes: error.diagnostics };
    }
  };
  const first = await look(false);
  const isPrivate = first.causes.some(({ code }) => code === "private-address");
  const { isThere, causes } = isPrivate ? await look(true) : first;
  if (isThere) return { isPrivate, ...content.found() };
  return {
    isPrivate,
    onlyBlocks: false,
    failure: causes.find(({ severity }) => severity === "error"),
  };
}

const TITLE = /^[!#;\s]*title\s*:[ \t]*(?<title>[^\r\n]+)/im;
/** Titles are in the header. */
const HEADER_BYTES = 4096;
const LONGEST_TITLE = 60;
const HOSTS_LINE = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)[ \t]/;
/** As many lines say what kind of list it is. */
const SAMPLE = 5000;

/** What is known of a list after a look at its text. */
class ListContent {
  private mayAllow: boolean;
  private title: string | undefined;
  private lines = 0;
  private forBrowsers = 0;
  private hosts = 0;
  private names = 0;
  private exceptions = 0;
  private readonly needed = new Map<string, Set<string>>();

  constructor(mayAllow: boolean) {
    this.mayAllow = mayAllow;
  }

  take(text: Uint8Array): void {
    this.mayAllow ||= indexOfBytes(text, EXCEPTION) !== -1;
    if (this.lines === 0) this.title ??= titleIn(decodeUtf8(text.subarray(0, HEADER_BYTES)));
    const { hashes, names } = acceptedNames();
    eachWrittenName(text, 0, text.length, {
      name: (bytes, start, end, isException) => {
        this.names++;
        if (isException) this.exceptions++;
        if (isException || !hashes.has(hashName(bytes, start, end))) return;
        const kind = names.get(decodeUtf8(bytes, start, end));
        if (kind !== undefined) this.see(kind, lineAt(bytes, start));
      },
      line: (_names, bytes, start) => {
        if (this.lines++ >= SAMPLE) return;
        const line = lineAt(bytes, start);
        if (isForBrowsers(line)) this.forBrowsers++;
        else if (HOSTS_LINE.test(line)) this.hosts++;
      },
      comment: (bytes, start) => {
        // `##.ad` hides a part of every page.
        if (this.lines >= SAMPLE || !isForBrowsers(lineAt(bytes, start))) return;
        this.lines++;
        this.forBrowsers++;
      },
    });
  }

  /** A line that mentions a name need not be for it. */
  private see(kind: string, line: string): void {
    if (isForBrowsers(line)) return;
    const names = this.needed.get(kind) ?? new Set();
    for (const name of namesOfLine(line)) if (householdKinds().get(name) === kind) names.add(name);
    if (names.size > 0) this.needed.set(kind, names);
  }

  found(): Omit<FoundList, "isPrivate"> {
    const looked = Math.min(this.lines, SAMPLE);
    const share = this.forBrowsers / looked;
    return {
      isHosts: this.hosts > looked * 0.9,
      onlyBlocks: !this.mayAllow,
      onlyAllows: this.exceptions > this.names * 0.9,
      title: this.title,
      forBrowsers: share > 0.5 ? Math.floor(share * 100) : undefined,
      needed: new Map(Array.from(this.needed, ([kind, names]) => [kind, [...names]])),
    };
  }
}

/** The title in the comments of a list, without characters that names do not need. */
function titleIn(header: string): string | undefined {
  const written = TITLE.exec(header)?.groups?.["title"] ?? "";
  const title = written
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, "")
    .replaceAll(/^["'\s]+|["'\s]+$/g, "");
  if (!/\p{L}/u.test(title) || isAddress(title)) return undefined;
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE).trimEnd()}…` : title;
}

/** The whole line around a place, or the start of a long one. */
function lineAt(bytes: Uint8Array, at: number): string {
  const start = bytes.lastIndexOf(LF, at) + 1;
  return decodeUtf8(bytes, start, Math.min(lineEnd(bytes, at), start + 1000)).trim();
}

let accepted: { hashes: ReadonlySet<number>; names: ReadonlyMap<string, string> } | undefined;

/** Names that people need and that some lists block on purpose. */
function acceptedNames(): NonNullable<typeof accepted> {
  if (accepted === undefined) {
    const names = new Map([...householdKinds()].filter(([, kind]) => isAcceptedKind(kind)));
    accepted = { names, hashes: new Set(Array.from(names.keys(), hashText)) };
  }
  return accepted;
}

/** Whether there is a text to compile, fetched or cached, and why a fetch failed. */
interface Look {
  readonly isThere: boolean;
  readonly causes: readonly Diagnostic[];
}

/** An event, and the number of its build or of the next one. */
interface Numbered {
  readonly number: number;
  readonly event: LogEvent;
}

const PUBLISHING: ReadonlySet<string> = new Set(["published", "accepted", "rolled-back"]);

/** Whether an event published a list. */
export function isPublishing({ event }: Pick<LogEvent, "event">): boolean {
  return PUBLISHING.has(event);
}

/** What happened to the list at a path, newest first, with its stored builds. Rejects with a `HostError`. */
export async function listLog(path: string, host: Host = nodeHost()): Promise<LogEvent[]> {
  const events: Numbered[] = (await new HistoryLog(path, host).entries()).map(
    ({ build: number, ...event }) => ({ number, event }),
  );
  for (const build of (await buildsOf(path, host)).toReversed()) {
    const { isSame: _isSame, of: _of, number, ...known } = build;
    const own = events.findLastIndex((one) => one.number === number && isPublishing(one.event));
    if (own !== -1) events[own] = { number, event: { ...events[own]!.event, ...known } };
    else {
      const before = events.findLastIndex((one) => one.number <= number);
      events.splice(before + 1, 0, { number, event: eventOf(build) });
    }
  }
  return events.map(({ event }) => event).toReversed();
}

/** The event of a build that the log does not have. */
function eventOf({ isSame, number: _number, ...build }: BuildEntry): LogEvent {
  if (build.of !== undefined) return { ...build, event: "rolled-back" };
  return { ...build, event: isSame ? "unchanged" : "published" };
}

/** Compares two lists and, if both are kept builds, the files that were published with them. */
export async function keptChange(
  before: KeptState,
  after: KeptState,
  place: { readonly name: string; readonly rulesDir: string },
  host: Host,
): Promise<ListChange> {
  const change = await listChange(before, after);
  const old = before.build && (await wholeBuild(before.build, host));
  const fresh = after.build && (await wholeBuild(after.build, host));
  if (old === undefined || fresh === undefined) return change;
  return withChangedFiles(change, await changedFiles(old, fresh, place, host));
}

/** That the file of the list changes with its rules goes without saying. */
export function withChangedFiles(change: ListChange, files: ListChange["files"]): ListChange {
  const isTold = hasSameRules(change);
  return { ...change, files: files.filter(({ isList }) => isTold || isList !== true) };
}

/** The folder for the state of a server with these lists. */
export function stateFolder(plans: readonly ListPlan[], host: Host): string {
  return recordFolder(plans.flatMap(({ files }) => files)[0]!.path, host);
}

/** Paths of the build reports, one per list. */
export function reportFiles(plans: readonly ListPlan[], folder: string, host: Host): string[] {
  if (plans.length === 1) return [host.path.join(folder, "report.html")];
  const slugs = plans.map(({ list }) => slugOf(list.config.name));
  return slugs.map((slug) => host.path.join(folder, "reports", `${slug}.report.html`));
}

/** The requirements for a release. */
export interface ReleaseWish {
  /** The minisign public key of its signature. */
  readonly key: string | undefined;
  /** The name of its list. */
  readonly name: string | undefined;
  /** The file with the last verified release, which must not be newer. Updated if there are no problems. */
  readonly state: string | undefined;
}

/** Verifies a release: signature, expiry, digest of every file, name of the list, and that it is not older than the last one. */
export async function verifyRelease(
  path: string,
  { key, name, state }: ReleaseWish,
  host: Host = nodeHost(),
): Promise<{ readonly manifest: Manifest | undefined; readonly problems: readonly Diagnostic[] }> {
  const { manifest, problems } = await verifyManifest(path, key, host);
  if (manifest === undefined) return { manifest, problems };
  if (name !== undefined && manifest.name !== name)
    problems.push(
      errorOf(
        "manifest-mismatch",
        `The release is of ${printable(manifest.name, 80)}, not of ${printable(name, 80)}`,
      ),
    );
  if (state === undefined) return { manifest, problems };
  problems.push(...(await releaseStateProblems(state, path, manifest, host)));
  if (problems.length === 0) await writeReleaseState(state, path, manifest, host);
  return { manifest, problems };
}

/**
 * The popular names of the configuration, from its files and from cached copies, without a network. Undefined without `ranks`, and if
 * they cannot be read: an answer must not fail because of them.
 */
export async function openRanks(
  options: BuildOptions,
  host: Host,
): Promise<RankedNames | undefined> {
  if (options.inputs.length > 0) return undefined;
  try {
    // Parsing the configuration, and loading the code for it, takes longer than most answers.
    const text = await configFileOf(options, host).read();
    if (!decodeUtf8(text).includes("ranks")) return undefined;
    const { readRanks } = await import("./draft/recorded-names.ts");
    return await readRanks(options, host);
  } catch (error) {
    if (error instanceof CompilerError || error instanceof HostError) return undefined;
    throw error;
  }
}

/** What the observations beside the configuration say; undefined without any. */
export async function openVerdicts(
  { configPath, inputs }: BuildOptions,
  host: Host,
): Promise<Verdicts | undefined> {
  if (inputs.length > 0) return undefined;
  const folder = host.path.dirname(host.path.resolve(host.cwd, configPath));
  const path = host.path.join(folder, OBSERVATIONS_FILE);
  if (!(await host.exists(path))) return undefined;
  return new Verdicts(await Observations.read(path, host), dayOf(host.now()));
}

/** Finds what is known about the existence of names and of their registrable domains; undefined if nothing was observed. */
export async function livenessFinder(
  options: BuildOptions,
  host: Host,
): Promise<((name: string) => NameLiveness | undefined) | undefined> {
  const verdicts = await openVerdicts(options, host);
  if (verdicts === undefined) return undefined;
  return (name) => {
    const liveness = verdicts.ofRule(name, false);
    return liveness.state === "unknown" ? undefined : livenessFacts(liveness);
  };
}

/** Finds the ranks of names; undefined if neither a name nor its registrable domain has one. */
export async function rankFinder(
  options: BuildOptions,
  host: Host,
): Promise<(name: string) => NameRank | undefined> {
  const ranks = await openRanks(options, host);
  if (ranks === undefined) return () => undefined;
  return (name) => {
    const own = ranks.rankOf(name);
    if (own !== undefined) return { rank: own };
    const domain = registrableDomain(name);
    const rank = domain === undefined ? undefined : ranks.rankOf(domain);
    return domain === undefined || rank === undefined ? undefined : { rank, of: domain };
  };
}

/** What was exported. */
interface Dataset {
  readonly rows: number;
  readonly bytes: number;
  /** Files of sources whose lines have no text, because they have changed or are not cached. */
  readonly unseen: readonly string[];
}

/** Endings of files, and how they are packed. */
const PACKINGS: readonly (readonly [string, Packing | undefined])[] = [
  [".csv", undefined],
  [".csv.zst", "zstd"],
  [".csv.gz", "gzip"],
];

/** Writes the lines of the last builds of lists as CSV to a file, or to standard output. Rejects with a `CompilerError`. */
export async function exportDataset(
  lists: readonly string[],
  file: string | undefined,
  options: BuildOptions & { readonly cacheDir: string | undefined },
  host: Host,
): Promise<Dataset> {
  const [, packing] = PACKINGS.find(([ending]) => file?.endsWith(ending)) ?? [];
  if (file !== undefined && !PACKINGS.some(([ending]) => file.endsWith(ending)))
    throw new CompilerError([
      errorOf("wrong-usage", `export writes CSV, not ${printable(file)}`, {
        hint: "Name a file that ends in .csv, .csv.zst or .csv.gz",
      }),
    ]);
  const builds: Omit<Awaited<ReturnType<typeof openLastBuild>>, "file">[] = [];
  for (const list of lists) {
    const { file: opened, ...build } = await openLastBuild(list, options, host);
    await opened.close();
    builds.push({ ...build, name: list === "" ? build.record.header.name : list });
  }
  let bytes = 0;
  const writeTo = async (take: TakeRows): Promise<Dataset> => {
    const lines = new DatasetLines(options.cacheDir, host, take);
    const rows = await lines.write(builds);
    return { rows, bytes, unseen: lines.unseen.map((one) => one.file) };
  };
  if (file === undefined) return await writeTo((rows) => sendToOutput(rows, host));
  const failed = (error: unknown): never => {
    throw outputFailed(`Cannot write ${printable(file)}`, error);
  };
  const path = host.path.resolve(host.cwd, file);
  return await writeWhole(path, host, async (to) => {
    const counted = {
      write: (part: Uint8Array): void => {
        bytes += part.length;
        to.write(part);
      },
    };
    const { take, end } = packing === undefined ? plain(counted) : packed(packing, counted, file);
    const dataset = await writeTo((rows) => take(rows).catch(failed));
    await end();
    return { ...dataset, bytes };
  }).catch(failed);
}

interface Sink {
  readonly take: TakeRows;
  readonly end: () => Promise<void>;
}

type Out = Pick<NewFile, "write">;

function plain(to: Out): Sink {
  return {
    take: async (rows) => {
      to.write(rows);
      return true;
    },
    end: async () => {},
  };
}

function packed(packing: Packing, to: Out, file: string): Sink {
  const packer = packerOf(packing);
  if (packer === undefined)
    throw new CompilerError([
      errorOf("output-failed", `Cannot write ${printable(file)}`, {
        cause: `this runtime has no ${packing}`,
        hint: "Name a file that ends in .csv.gz",
      }),
    ]);
  const written = (async (): Promise<void> => {
    for await (const part of packer) to.write(part as Uint8Array);
  })();
  // A failed write ends the wait, too: the packer then takes nothing more.
  written.catch(() => {});
  return {
    take: async (rows) => {
      await Promise.race([taken(packer, rows), written]);
      return true;
    },
    end: async () => {
      packer.end();
      await written;
    },
  };
}

/** A warning for commands that only read, if the files of a list may be of two builds. */
export async function unfinishedPublish(
  { name, path }: OutputFile,
  host: Host,
): Promise<Diagnostic[]> {
  return (await host.exists(journalPath(path, host))) ? [unfinished(name)] : [];
}

/** The same for all lists in the folder of a file. */
export async function unfinishedBeside(path: string, host: Host): Promise<Diagnostic[]> {
  const names = await host.listFolder(recordFolder(path, host));
  return names.filter(isJournal).map((name) => unfinished(name.replace(/\.journal$/, "")));
}

function unfinished(name: string): Diagnostic {
  const message = `The last publish of ${printable(name)} is not finished; its files may be of two builds`;
  return warningOf("publish-unfinished", message, { hint: "The next compile finishes it" });
}

/** What a published list says about a name. */
export interface ListVerdict {
  readonly verdict: Verdict;
  readonly rule?: RuleInList | undefined;
}

/** A function that says what the last build of a list says about a name, without the lines of its sources. Rejects with a `CompilerError` if there is no build. */
export async function verdictsOf(
  listName: string,
  options: ProjectOptions,
  host: Host,
): Promise<(name: string) => ListVerdict> {
  const { list, record } = await lastBuild(listName, options, host);
  const rules = await ListRules.of(record, new MappedNames(list, record));
  return (name) => {
    const { verdict, by } = rules.answer(name);
    return { verdict, rule: by === undefined ? undefined : inList(by, record) };
  };
}
