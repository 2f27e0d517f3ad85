import { publishedCanary } from "../publish/list-file.ts";
import type { ProjectOptions } from "../builder/plan/build-options.ts";
import { listFiles } from "../builder/plan/list-plan.ts";
import { openProject } from "../builder/plan/project.ts";
import { bufferOf, decodeUtf8, lineEnd } from "../bytes/text.ts";
import { type Resolver, addressOf } from "../config/resolvers.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf } from "../diagnostics/text.ts";
import type { AliveOfList, NameState } from "../documents/facts.ts";
import { type Host, HostError } from "../host/host.ts";
import {
  type Mark,
  OBSERVATIONS_FILE,
  Observations,
  areObservations,
  dayOf,
  isMissing,
  isName,
} from "../liveness/observations.ts";
import { Verdicts, subjectOf } from "../liveness/verdict.ts";
import { foldedName, namesOfLine, soleName } from "../meaning/line.ts";
import { isIpv4Text, isIpv6Text } from "../syntax/hosts-line.ts";
import { OutputLock } from "../publish/list-file.ts";
import { type AskCounts, type Subject, askAll, dueSubjects } from "./ask-names.ts";
import type { ClientLimits } from "./dns-client.ts";

export interface AliveRequest {
  /** Addresses of resolvers, as in a configuration: the first is asked, the others must agree. Without any, nothing is asked. */
  readonly resolvers: readonly string[];
  /** Names a second; 20 by default. */
  readonly rate?: number | undefined;
  /** A file with the name servers of parked names, one per line. */
  readonly parked?: string | undefined;
  /** A file of another tool, perhaps with what it counts, from 0.1 to 0.9: `dead.txt=0.7`. 0.5 by default. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ClientLimits | undefined;
  /** Called after each batch, which is kept by then. */
  readonly onBatch?: ((asked: Readonly<AskCounts>, due: number) => void) | undefined;
}

export interface AliveResult {
  /** The file of observations. */
  readonly file: string;
  /** Names with observations. */
  readonly names: number;
  /** How many names were due. */
  readonly due: number;
  readonly asked: Readonly<AskCounts>;
  readonly imported: (Imported & { readonly file: string }) | undefined;
  readonly lists: readonly AliveOfList[];
  /** Why a resolver was refused; what it said since its last passed test is not kept. */
  readonly refusal: string | undefined;
}

/** Names a second, if the user names no rate. */
export const USUAL_RATE = 20;
const USUAL_WEIGHT = 0.5;
/** Names of the list below a domain that are looked for before it counts as missing. */
const MOST_BELOW = 8;
/** 2000-01-01: observations have years of two digits. */
const FIRST_DAY = 10_957;
/** Names without observations for so long are forgotten. */
const FORGOTTEN_DAYS = 400;

/**
 * Asks resolvers whether the names of the published lists exist, and keeps what they say beside the configuration. Rejects with a
 * `CompilerError`.
 */
export async function askAlive(
  request: AliveRequest,
  options: ProjectOptions,
  host: Host,
): Promise<AliveResult> {
  const resolvers = request.resolvers.map(resolverAt);
  const rate = numberWithin("--rate", request.rate ?? USUAL_RATE, 0.01, 100_000);
  const { project, lists } = await openProject(options, host);
  const path = host.path.resolve(host.cwd, project.folder, OBSERVATIONS_FILE);
  const file = host.path.relative(host.cwd, path);
  const today = dayOf(host.now());
  const published = await publishedLists(
    lists.map(({ config }) => config.name),
    options,
    host,
  );
  const lock = await OutputLock.take(path, host);
  try {
    const observations = await Observations.read(path, host);
    const imported =
      request.from === undefined
        ? undefined
        : await importFile(request.from, { observations, today }, host);
    // One line for each name again, after a run that was killed.
    observations.forget(today - FORGOTTEN_DAYS);
    if (resolvers.length > 0 || imported !== undefined) await observations.write(path, host);
    const asked: AskCounts = { names: 0, questions: 0, tests: 0 };
    let refusal: string | undefined;
    let due = 0;
    if (resolvers.length > 0) {
      const wanted = subjectsOf(published, observations, resolvers.length > 1);
      const subjects = dueSubjects(wanted, observations, today);
      due = subjects.length;
      const ask = {
        resolvers,
        observations,
        canaries: published.flatMap(({ canary }) => canary ?? []),
        rate,
        parking: request.parked === undefined ? [] : await parkingIn(request.parked, host),
        today,
        signal: request.signal,
        limits: request.limits,
        keep: async (names: readonly string[]): Promise<void> => {
          await observations.append(names, path, host);
          request.onBatch?.(asked, due);
        },
      };
      refusal = await askAll(subjects, { ...ask, asked }, host);
      await observations.write(path, host);
    }
    const verdicts = new Verdicts(observations, today);
    const counted = published.map(({ name, bytes }) => ({
      list: name,
      ...stateCounts(bytes, verdicts),
    }));
    return { file, names: observations.size, due, asked, imported, lists: counted, refusal };
  } finally {
    await lock.release();
  }
}

function resolverAt(text: string): Resolver {
  const address = addressOf(text);
  if (address !== undefined)
    return { ...address, name: text, list: "", group: "", mayRollBack: false };
  throw new CompilerError([
    errorOf("wrong-usage", `--resolver ${printable(text, 60)} is not an address`, {
      hint: "Such as 127.0.0.1, 127.0.0.1:5335 or tls://192.0.2.53",
    }),
  ]);
}

function numberWithin(flag: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw new CompilerError([
    errorOf("wrong-usage", `${flag} must be a number from ${least} to ${most}`),
  ]);
}

interface PublishedText {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly canary: string | undefined;
}

async function publishedLists(
  names: readonly string[],
  options: ProjectOptions,
  host: Host,
): Promise<PublishedText[]> {
  const published: PublishedText[] = [];
  for (const name of names) {
    const [file] = listFiles(name, options, host);
    if (file === undefined || !(await host.exists(file.path)))
      throw new CompilerError([
        errorOf("not-published", `The list ${printable(name)} is not published`, {
          ...(file && { cause: `${printable(file.name)} does not exist` }),
        }),
      ]);
    const canary = await publishedCanary(file.path, host);
    published.push({ name, bytes: await host.readFile(file.path), canary });
  }
  return published;
}

/** Calls `visit` with each rule of a list that is for one name, with the names below it or without. */
function eachName(bytes: Uint8Array, visit: (name: string, isSubtree: boolean) => void): void {
  const buffer = bufferOf(bytes);
  for (let start = 0; start < buffer.length;) {
    const end = lineEnd(buffer, start);
    const found = soleName(buffer.toString("latin1", start, end).trim());
    if (found !== undefined) visit(found.name, found.isSubtree);
    start = end + 1;
  }
}

/** The names to ask about: domains of rules, names that are missing, and if several resolvers must agree, names of rules without those below. */
function subjectsOf(
  lists: readonly PublishedText[],
  observations: Observations,
  withExact: boolean,
): Subject[] {
  const below = new Map<string, string[]>();
  const exact = new Set<string>();
  for (const { bytes } of lists)
    eachName(bytes, (name, isSubtree) => {
      const domain = subjectOf(name);
      const known = below.get(domain);
      if (known === undefined) below.set(domain, name === domain ? [] : [name]);
      else if (name !== domain && known.length < MOST_BELOW) known.push(name);
      if (withExact && !isSubtree && name !== domain) exact.add(name);
    });
  // A name that was dropped is in no list.
  for (const name of observations.names()) {
    const last = observations.of(name).findLast(({ mark }) => mark !== "?");
    if (last === undefined || !isMissing(last)) continue;
    const domain = subjectOf(name);
    if (!below.has(domain)) below.set(domain, []);
    if (withExact && name !== domain) exact.add(name);
  }
  return [
    ...Array.from(below, ([name, names]) => ({ name, below: names })),
    ...Array.from(exact, (name) => ({ name, below: undefined })),
  ];
}

function stateCounts(bytes: Uint8Array, verdicts: Verdicts): Omit<AliveOfList, "list"> {
  const states: Record<NameState, number> = {
    dead: 0,
    held: 0,
    missing: 0,
    parked: 0,
    answers: 0,
    unknown: 0,
  };
  let rules = 0;
  eachName(bytes, (name, isSubtree) => {
    rules++;
    states[verdicts.ofRule(name, isSubtree).state]++;
  });
  return { rules, states };
}

/** Takes a file of another tool, as of the day on which it was written. */
async function importFile(
  text: string,
  { observations, today }: { readonly observations: Observations; readonly today: number },
  host: Host,
): Promise<NonNullable<AliveResult["imported"]>> {
  const [, file = text, given] = /^(?<file>.+)=(?<weight>[\d.]+)$/.exec(text) ?? [];
  const weight = numberWithin("The weight", Number(given ?? USUAL_WEIGHT), 0.1, 0.9);
  const mark = String(Math.round(weight * 10)) as Mark;
  const path = host.path.resolve(host.cwd, file);
  try {
    const stamp = await host.stampOf(path);
    const written = stamp === undefined ? Number.NaN : dayOf(new Date(stamp.changed));
    // A file without a time that can be true counts as of today, which makes no name look dead for longer.
    const day = written > FIRST_DAY && written < today ? written : today;
    const bytes = await host.readFile(path);
    return { file, ...importInto(observations, bytes, { path: file, day, mark }) };
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function parkingIn(name: string, host: Host): Promise<string[]> {
  try {
    const text = decodeUtf8(await host.readFile(host.path.resolve(host.cwd, name)));
    return text.split(/\r?\n/).flatMap((line) => {
      const server = line
        .replace(/[#!].*$/, "")
        .trim()
        .toLowerCase()
        .replace(/^\*?\.|\.$/g, "");
      return server === "" ? [] : [server];
    });
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): unknown {
  if (!(error instanceof HostError)) return error;
  const cause = reasonOf(error.code, error.message);
  return new CompilerError([
    errorOf("bad-observations", `Cannot read ${printable(name)}`, { cause }),
  ]);
}

/** What an import added. */
interface Imported {
  readonly missing: number;
  readonly answered: number;
  /** Lines that say nothing about a name. */
  readonly ignored: number;
}

/** A file of another tool: when it was written, and the mark of a name that it says does not exist. */
interface ForeignFile {
  readonly path: string;
  readonly day: number;
  readonly mark: Mark;
}

/**
 * Takes what other tools saw: JSON lines with a name and a status (massdns, zdns), lines such as `name NXDOMAIN` or `name A 192.0.2.1`
 * (loops of dig, massdns), and names or rules alone, which do not exist. Files of observations are merged. Throws a `CompilerError`.
 */
export function importInto(
  observations: Observations,
  bytes: Uint8Array,
  { path, day, mark }: ForeignFile,
): Imported {
  const text = decodeUtf8(bytes);
  const counts = { missing: 0, answered: 0, ignored: 0 };
  if (areObservations(text)) {
    const before = observations.size;
    observations.take(bytes, path);
    return { ...counts, missing: 0, answered: observations.size - before };
  }
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:$|[#!;])/.test(line)) continue;
    const said = saidBy(line.trim());
    if (said.length === 0) counts.ignored++;
    for (const { name, exists } of said) {
      observations.add(name, [{ mark: exists ? "+" : mark, day }]);
      counts[exists ? "answered" : "missing"]++;
    }
  }
  return counts;
}

interface Said {
  readonly name: string;
  readonly exists: boolean;
}

const STATUS = /^(?<name>\S+?)[\s,;:]+(?:\S+[\s,;]+)*?(?<status>NOERROR|NXDOMAIN)\b/i;
const RECORD = /^(?<name>\S+)[\s,;]+(?:\d+\s+)?(?:IN\s+)?(?:(?:A|AAAA|CNAME|NS)\s+)?(?<data>\S+)$/i;
const OTHER_STATUS =
  /^\S+[\s,;:]+(?:\S+[\s,;]+)*?(?:SERVFAIL|REFUSED|FORMERR|NOTIMP|TIMEOUT|ERROR)\b/i;

function saidBy(line: string): Said[] {
  if (line.startsWith("{")) return saidByJson(line);
  const { name, status } = STATUS.exec(line)?.groups ?? {};
  if (name !== undefined) return named(name, status!.toUpperCase() === "NOERROR");
  if (OTHER_STATUS.test(line)) return [];
  const record = RECORD.exec(line)?.groups;
  // `0.0.0.0 name` is a line of a list of dead names.
  if (record !== undefined && !isAddress(record["name"]!)) {
    const data = record["data"]!;
    return isAddress(data) || data.endsWith(".") ? named(record["name"]!, true) : [];
  }
  return namesOfLine(line).flatMap((one) => named(one, false));
}

function saidByJson(line: string): Said[] {
  try {
    const { name, status } = JSON.parse(line) as { name?: unknown; status?: unknown };
    if (typeof name !== "string") return [];
    return status === "NOERROR" || status === "NXDOMAIN" ? named(name, status === "NOERROR") : [];
  } catch {
    return [];
  }
}

function isAddress(text: string): boolean {
  return isIpv4Text(text) || isIpv6Text(text);
}

function named(written: string, exists: boolean): Said[] {
  const name = foldedName(written);
  return isName(name) ? [{ name, exists }] : [];
}
