import { Buffer } from "node:buffer";
import { type HashedName, SliceTable, hashName } from "../bytes/hash.ts";
import { BANG, HASH, LF, bufferOf, eachLine, lineEnd } from "../bytes/text.ts";
import { decisionFor } from "../config/decisions.ts";
import { nameSlice, readNameSlice, soleName } from "../meaning/line.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { FATES, Fate, hasCause } from "../rules/fate.ts";
import { NEWLY_BLOCKS_FILE } from "../rules/rule-table.ts";
import { canaryIn } from "../syntax/host-name.ts";
import type { ListRule, ListRules, PlainRules, PlainNames } from "./list-rules.ts";
import { LineFinder } from "./plain-list.ts";
import type { SourceLines } from "./source-lines.ts";
import type { Explanation, LineFate, LineLocation, RuleInList, Since } from "../documents/facts.ts";

/** The parts of a build that explanations are taken from. */
interface ExplainedBuild {
  readonly record: BuildRecord;
  readonly rules: ListRules;
  readonly sources: SourceLines;
  /** How long rules have been in the list. */
  readonly sinceOf?: (rules: readonly string[]) => Promise<ReadonlyMap<string, Since>>;
}

/** Explains the answers for names in lower case. */
export async function explainNames(
  names: readonly string[],
  { record, rules, sources, sinceOf }: ExplainedBuild,
): Promise<Explanation[]> {
  const answers = names.map((name) => ({ name, ...rules.answer(name) }));
  // Older lists are decompressed in parallel with the search.
  const [since, { lines, unseen }] = await Promise.all([
    sinceOf?.(answers.flatMap(({ by }) => by?.text ?? [])),
    sources.find(names),
  ]);
  const first = await sources.firstSeen([...lines.values()].flat());
  return answers.map(({ name, verdict, by, partial }): Explanation => {
    const known = by && since?.get(by.text);
    const rule = by && inList(by, record);
    const decision = decisionFor(name, record.header.decisions ?? []);
    return {
      name,
      verdict,
      ...(rule && { rule }),
      ...(decision && { decision }),
      ...(rule?.source === NEWLY_BLOCKS_FILE && { isNewlyBlocked: true }),
      ...(known && { since: known }),
      partial: partial.map((one) => inList(one, record)),
      lines: (lines.get(name) ?? []).map(({ row, text }) => {
        const seen = first.get(row);
        return { ...lineFate(row, text, record), ...(seen !== undefined && { firstSeen: seen }) };
      }),
      unseen: unseen.map(({ file }) => file),
      ...(verdict === "blocked" && by && { unblock: unblocking(name, by.text) }),
    };
  });
}

export function inList({ text, row }: ListRule, record: BuildRecord): RuleInList {
  const location = locationOf(row, record);
  const isCanary = location.line === 0 && canaryIn(text) !== undefined;
  return { text, ...location, ...(isCanary && { source: "canary" }) };
}

function locationOf(row: number, record: BuildRecord): LineLocation {
  const { source, file, path, isKept, isOwn } = record.fileOf(row);
  const line = record.lineOf(row);
  if (line === 0 && isOwn === true && file === NEWLY_BLOCKS_FILE)
    return { source: file, file: "the configuration", line };
  // Other rules without a line were generated for the `allow` list of the configuration, except for the canary.
  if (line === 0) return { source: "allow", file: "the configuration", line };
  const { label } = record.header.sources[source]!;
  const shown = isKept === true ? `${label} (kept)` : label;
  return { source: shown, file, line, ...(path && { path }) };
}

function lineFate(row: number, text: string, record: BuildRecord): LineFate {
  const fate = shownFate(row, record);
  const location = locationOf(row, record);
  const [name, , meaning] = FATES[fate] ?? ["unknown", "", ""];
  return {
    ...location,
    text,
    fate: name,
    meaning,
    ...(hasCause(fate) ? { by: locationOf(record.keeperOf(row), record) } : {}),
  };
}

/** The fate of a row. If a decision replaced the line that made it redundant, the decision is the reason. */
function shownFate(row: number, record: BuildRecord): number {
  const fate = record.fateOf(row);
  return hasCause(fate) && record.fateOf(record.keeperOf(row)) === Fate.Decided
    ? Fate.Decided
    : fate;
}

function unblocking(name: string, rule: string): { allow: string; effect: string } {
  const isExact = rule === `||${name}^` || rule === name || rule.endsWith(` ${name}`);
  const effect = isExact
    ? `removes ${rule} from the list`
    : `adds @@||${name}^; ${rule} still blocks all other names`;
  return { allow: name, effect };
}

/** A build, and access to its list. */
export interface BuildText {
  readonly at: string;
  /** Identifies the text; builds may share one. */
  readonly text: string | undefined;
  list(): Promise<Uint8Array | undefined>;
}

/** How long each rule of the newest build has been in the list. Builds are ordered newest first. */
export async function sinceWhen(
  rules: Iterable<string>,
  builds: readonly BuildText[],
): Promise<Map<string, Since>> {
  const [newest, ...older] = builds;
  const found = new Map<string, Since>();
  if (newest === undefined) return found;
  let open = new Set(rules);
  let last = newest;
  for (const build of older) {
    if (open.size === 0) break;
    if (build.text === last.text && build.text !== undefined) {
      last = build;
      continue;
    }
    const bytes = await build.list();
    if (bytes === undefined) break;
    const still = new Set([...open].filter((rule) => hasLine(bytes, rule)));
    for (const rule of open)
      if (!still.has(rule)) found.set(rule, { at: last.at, isOldest: false });
    open = still;
    last = build;
  }
  for (const rule of open) found.set(rule, { at: last.at, isOldest: true });
  return found;
}

function hasLine(list: Uint8Array, text: string): boolean {
  const buffer = bufferOf(list);
  const wanted = Buffer.from(text);
  for (let at = buffer.indexOf(wanted); at !== -1; at = buffer.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    const startsLine = at === 0 || buffer[at - 1] === LF;
    if (startsLine && (end === buffer.length || buffer[end] === LF)) return true;
  }
  return false;
}

/** The locations of rules of a list, by their texts. */
export function ruleLocations(
  list: Uint8Array,
  record: BuildRecord,
  texts: ReadonlySet<string>,
): Map<string, LineLocation> {
  const locations = new Map<string, LineLocation>();
  if (texts.size === 0) return locations;
  const buffer = bufferOf(list);
  const filter = new LineFinder();
  for (const text of texts) filter.addLine(text);
  const starts = new Set<number>();
  const frames = new Set<Frame>();
  const look = (start: number, end: number): void => {
    if (!texts.has(buffer.toString("utf8", start, end).trim())) return;
    starts.add(start);
    // A frame begins with the line feed before its first rule.
    frames.add(record.lastFrame(({ offset }) => offset < start));
  };
  // Blanks around a rule do not count.
  if (BLANK_ENDS.some((blanks) => buffer.includes(blanks))) eachLine(list, look);
  else filter.each(list, look);
  for (const frame of frames)
    eachLiveLine(buffer, frame, (row, start, end) => {
      if (!starts.has(start)) return;
      const text = buffer.toString("utf8", start, end).trim();
      if (!locations.has(text)) locations.set(text, locationOf(row, record));
    });
  return locations;
}

/** What is in a list with blanks around a rule. */
const BLANK_ENDS = [" \n", "\t\n", "\r\n", "\n ", "\n\t"];

/** Visits the live rows of a frame with their lines in the list, which have the same order. */
export function eachLiveLine(
  list: Buffer,
  { base, length, offset, fates }: Frame,
  visit: (row: number, start: number, end: number) => void,
): void {
  let at = offset;
  for (let row = 0; row < length; row++) {
    if (fates[row] !== Fate.Kept) continue;
    const start = at + 1;
    at = lineEnd(list, start);
    visit(base + row, start, at);
  }
}

/** Names of some lines of a list, and the row of each. */
class NamedRows {
  private readonly names: SliceTable;
  private readonly rows: number[] = [];

  constructor(list: Uint8Array) {
    this.names = new SliceTable(list);
  }

  /** The row that has the name already; -1 if it is new. */
  enter(start: number, end: number, row: number, hash: number): number {
    const number = this.names.numberOf(start, end, hash);
    if (number < this.rows.length) return this.rows[number]!;
    this.rows.push(row);
    return -1;
  }

  rowOf(name: Uint8Array, start: number, end: number, hash: number): number {
    const number = this.names.find(name, start, end, hash);
    return number === -1 ? -1 : this.rows[number]!;
  }
}

/** For many names: indexes the whole list. */
export class MappedNames implements PlainNames {
  private readonly subtrees: NamedRows;
  private readonly exact: NamedRows;
  /** Rows with the name of an earlier row, which neither Compress nor Deduplicate merged. */
  readonly repeats: { readonly row: number; readonly first: number }[] = [];
  private readonly starts: Uint32Array;
  private readonly list: Buffer;
  /** A bit for some bits of each hash: it is a twentieth of the tables, which are too large for the caches. */
  private readonly filter: Int32Array;
  private readonly mask: number;
  /** The bytes of the name that is searched for. */
  private readonly wanted = Buffer.alloc(LONGEST);

  constructor(list: Uint8Array, record: BuildRecord) {
    this.list = bufferOf(list);
    this.subtrees = new NamedRows(list);
    this.exact = new NamedRows(list);
    this.starts = new Uint32Array(record.rows);
    const bits = Math.ceil(Math.log2(Math.max(32, record.rows * BITS_PER_ROW)));
    this.filter = new Int32Array(2 ** (bits - 5));
    this.mask = 2 ** bits - 1;
    for (const frame of record.frames) this.enter(frame);
  }

  private enter(frame: Frame): void {
    const { list, starts, repeats } = this;
    eachLiveLine(list, frame, (row, start, end) => {
      starts[row] = start;
      const first = readNameSlice(list, start, end)
        ? this.enterName(row, nameSlice.start, nameSlice.end, nameSlice.isSubtree)
        : this.enterText(row, start, end);
      if (first !== -1) repeats.push({ row, first });
    });
  }

  /** A line that is not just a name in one of the usual forms. */
  private enterText(row: number, start: number, end: number): number {
    const first = this.list[start]!;
    if (first === BANG || first === HASH) return -1;
    const line = this.list.toString("latin1", start, end);
    const found = soleName(line);
    if (found === undefined) return -1;
    const at = start + line.indexOf(found.name);
    return this.enterName(row, at, at + found.name.length, found.isSubtree);
  }

  private enterName(row: number, start: number, end: number, isSubtree: boolean): number {
    const hash = hashName(this.list, start, end);
    const bit = hash & this.mask;
    this.filter[bit >>> 5]! |= 1 << (bit & 31);
    return (isSubtree ? this.subtrees : this.exact).enter(start, end, row, hash);
  }

  private isIn(hash: number): boolean {
    const bit = hash & this.mask;
    return ((this.filter[bit >>> 5]! >>> (bit & 31)) & 1) !== 0;
  }

  /** Whether the name, or a name above it, has a rule. Most names have none. */
  mayFind({ bytes, length, ends, starts, hashes }: HashedName): boolean {
    const { subtrees, exact } = this;
    for (let end = 0; end < ends; end++)
      if (
        this.isIn(hashes[end]!) &&
        subtrees.rowOf(bytes, starts[end]!, length, hashes[end]!) !== -1
      )
        return true;
    const hash = hashes[ends - 1]!;
    return this.isIn(hash) && exact.rowOf(bytes, 0, length, hash) !== -1;
  }

  find(name: string): PlainRules {
    const length = this.write(name);
    if (length === -1) return NOTHING;
    const hash = hashName(this.wanted, 0, length);
    const subtree = this.subtrees.rowOf(this.wanted, 0, length, hash);
    const exact = this.exact.rowOf(this.wanted, 0, length, hash);
    if (subtree === -1 && exact === -1) return NOTHING;
    return { subtree: this.ruleAt(subtree), exact: this.ruleAt(exact) };
  }

  /** The length of the name in `wanted`; -1 if it cannot be the name of a rule. */
  private write(name: string): number {
    const { length } = name;
    if (length > LONGEST) return -1;
    for (let at = 0; at < length; at++) {
      const code = name.charCodeAt(at);
      if (code > 0x7f) return -1;
      this.wanted[at] = code;
    }
    return length;
  }

  private ruleAt(row: number): ListRule | undefined {
    if (row === -1) return undefined;
    const { list, starts } = this;
    return {
      row,
      get text() {
        return list.toString("utf8", starts[row], lineEnd(list, starts[row]!));
      },
    };
  }
}

const NOTHING: PlainRules = {};
const BITS_PER_ROW = 6;
/** Longer than any name. */
const LONGEST = 1024;
