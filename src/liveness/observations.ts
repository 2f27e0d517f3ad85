import { Buffer } from "node:buffer";
import { LF, SPACE, bufferOf, encodeUtf8, lineEnd } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { DAY_MS, printable, reasonOf } from "../diagnostics/text.ts";
import { readFully, removeLeftovers, writeWhole } from "../host/files.ts";
import { type Host, HostError } from "../host/host.ts";

/** The file beside the configuration. */
export const OBSERVATIONS_FILE = "observations.txt";

const VERSION = 1;
const HEAD = `# Observations of names, version ${VERSION}: NAME, then what was seen on which day. rules-compiler alive writes them; lines may be merged in any order.
# +YYMMDD answered, pYYMMDD answered and parked, xYYMMDD NXDOMAIN, 1YYMMDD to 9YYMMDD NXDOMAIN as others say with that weight in tenths, ?YYMMDD no conclusion
`;
const HEAD_LINE = /^# Observations of names, version (?<version>\d{1,9})\b/;

/**
 * What was seen: the name answered, perhaps from name servers of parked names; it does not exist; others say that it does not exist,
 * with a weight in tenths; or nothing can be concluded. For one name and day, the first of this order counts.
 */
export const MARKS = ["p", "+", "x", "9", "8", "7", "6", "5", "4", "3", "2", "1", "?"] as const;
export type Mark = (typeof MARKS)[number];

export interface Observation {
  readonly mark: Mark;
  /** Days since 1970. */
  readonly day: number;
}

/** Observations of one name, in the order of their days. At most one a day. */
export type NameHistory = readonly Observation[];

export function isAnswer({ mark }: Observation): boolean {
  return mark === "+" || mark === "p";
}

export function isMissing({ mark }: Observation): boolean {
  return mark !== "?" && !isAnswer({ mark, day: 0 });
}

/** After the first NXDOMAIN, only the last ones matter. */
const LAST_MISSING = 5;

/**
 * The observations that still matter: the last answer; of those after it that say that the name does not exist, the first and the last;
 * and the last one without a conclusion. What is left out could only make a name look dead for longer.
 */
export function pruned(history: NameHistory): NameHistory {
  const from = history.findLastIndex(isAnswer);
  const after = history.slice(from + 1).filter(isMissing);
  const missing = after.length > LAST_MISSING ? [after[0]!, ...after.slice(-LAST_MISSING)] : after;
  const last = history.at(-1);
  return [
    ...(from === -1 ? [] : [history[from]!]),
    ...missing,
    ...(last?.mark === "?" ? [last] : []),
  ];
}

/** The union of two histories, in whatever order they were seen. */
export function merged(one: NameHistory, other: NameHistory): NameHistory {
  const days = new Map<number, Mark>();
  for (const { mark, day } of [...one, ...other]) {
    const known = days.get(day);
    if (known === undefined || MARKS.indexOf(mark) < MARKS.indexOf(known)) days.set(day, mark);
  }
  const all = Array.from(days, ([day, mark]) => ({ mark, day }));
  return pruned(all.toSorted((a, b) => a.day - b.day));
}

export function dayOf(date: Date): number {
  return Math.floor(date.getTime() / DAY_MS);
}

/** `2026-11-19`. */
export function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function tokenOf({ mark, day }: Observation): string {
  return mark + dateText(day).slice(2).replaceAll("-", "");
}

const TOKEN = /([px+?1-9])(\d\d)(\d\d)(\d\d)(?= |$)/g;

function historyOf(tokens: string): NameHistory {
  const history: Observation[] = [];
  for (const [, mark, year, month, day] of tokens.matchAll(TOKEN)) {
    const ms = Date.UTC(2000 + Number(year), Number(month) - 1, Number(day));
    history.push({ mark: mark as Mark, day: ms / DAY_MS });
  }
  return history;
}

const NAME = /^(?=.{1,253}$)[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})+$/;

/** Whether a text can be asked for: a name in lower-case ASCII without a final dot. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/**
 * What was observed of names, from any number of runs and machines. The file has a line for each name; lines that a run appended may
 * be about the same names, and are merged when it is read. Texts of histories are shared: most are alike.
 */
export class Observations {
  private readonly texts = new Map<string, string>();
  private readonly shared = new Map<string, string>();
  /** Whether the file has lines that could be one, or that no line should be. */
  private isLoose = false;

  get size(): number {
    return this.texts.size;
  }

  names(): IterableIterator<string> {
    return this.texts.keys();
  }

  of(name: string): NameHistory {
    const text = this.texts.get(name);
    return text === undefined ? [] : historyOf(text);
  }

  add(name: string, seen: NameHistory): void {
    const known = this.texts.get(name);
    this.set(name, merged(known === undefined ? [] : historyOf(known), seen));
  }

  private set(name: string, history: NameHistory): void {
    const text = history.map(tokenOf).join(" ");
    let shared = this.shared.get(text);
    if (shared === undefined) this.shared.set(text, (shared = text));
    this.texts.set(name, shared);
  }

  /** Reads lines. A last line without an end may be cut; lines of any other form are left out. Throws a `CompilerError`. */
  take(bytes: Uint8Array, file: string): void {
    const buffer = bufferOf(bytes);
    for (let start = 0; start < buffer.length;) {
      const end = lineEnd(buffer, start);
      if (end === buffer.length && buffer[end - 1] !== LF) this.isLoose = true;
      else this.takeLine(buffer, start, end, file);
      start = end + 1;
    }
  }

  private takeLine(buffer: Buffer, start: number, end: number, file: string): void {
    const blank = buffer.indexOf(SPACE, start);
    if (blank === -1 || blank >= end || buffer[start] === 0x23) {
      refuseNewer(buffer.toString("latin1", start, end), file);
      return;
    }
    // Slices of a decoded text would keep all of it.
    const name = buffer.toString("latin1", start, blank);
    const history = historyOf(buffer.toString("latin1", blank + 1, end));
    if (history.length === 0 || !isName(name)) this.isLoose = true;
    else if (this.texts.has(name)) {
      this.isLoose = true;
      this.add(name, history);
    } else this.set(name, merged([], history));
  }

  /** The lines of some names. */
  lines(names: Iterable<string>): Uint8Array {
    let text = "";
    for (const name of names) text += `${name} ${this.texts.get(name)!}\n`;
    return encodeUtf8(text);
  }

  /** Forgets names whose last observation is older than a day. */
  forget(before: number): void {
    for (const [name, text] of this.texts)
      if ((historyOf(text).at(-1)?.day ?? 0) < before) this.texts.delete(name);
  }

  /** The observations beside a configuration; none if there is no file. Rejects with a `CompilerError`. */
  static async read(path: string, host: Host): Promise<Observations> {
    const observations = new Observations();
    try {
      const file = await host.openFile(path);
      try {
        observations.take(await readFully(file, new Uint8Array(file.size)), path);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (error.code !== "ENOENT") throw unusable(path, error, "read");
    }
    return observations;
  }

  /** Adds lines to the end of the file, so that a kill loses nothing that was there. Rejects with a `CompilerError`. */
  async append(names: readonly string[], path: string, host: Host): Promise<void> {
    try {
      const isNew = !(await host.exists(path));
      const lines = this.lines(names);
      // A line that a kill has cut ends here.
      const start = encodeUtf8(isNew ? HEAD : this.isLoose ? "\n" : "");
      await host.appendFile(path, Buffer.concat([start, lines]));
      this.isLoose = true;
    } catch (error) {
      if (error instanceof HostError) throw unusable(path, error, "write");
      throw error;
    }
  }

  /** Writes the whole file, sorted, with one line for each name. Rejects with a `CompilerError`. */
  async write(path: string, host: Host): Promise<void> {
    try {
      await removeLeftovers(path, host);
      await writeWhole(path, host, (file) => {
        file.write(encodeUtf8(HEAD));
        const names = [...this.texts.keys()].toSorted();
        for (let at = 0; at < names.length; at += BLOCK)
          file.write(this.lines(names.slice(at, at + BLOCK)));
      });
      this.isLoose = false;
    } catch (error) {
      if (error instanceof HostError) throw unusable(path, error, "write");
      throw error;
    }
  }
}

const BLOCK = 10_000;

function refuseNewer(line: string, file: string): void {
  const version = Number(HEAD_LINE.exec(line)?.groups?.["version"] ?? 0);
  if (version <= VERSION) return;
  const message = `${printable(file)} was written by a newer rules-compiler`;
  const cause = `its version is ${version}, and this one knows ${VERSION}`;
  throw new CompilerError([errorOf("newer-state", message, { cause })]);
}

/** Whether a text is a file of observations. */
export function areObservations(text: string): boolean {
  return HEAD_LINE.test(text);
}

function unusable(path: string, error: HostError, what: "read" | "write"): CompilerError {
  const cause = reasonOf(error.code, error.message);
  return new CompilerError([
    errorOf("bad-observations", `Cannot ${what} ${printable(path)}`, { cause }),
  ]);
}
