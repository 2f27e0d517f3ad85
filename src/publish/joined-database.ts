import { encodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { scratchOf } from "../engine/scratch.ts";
import { CdbJoin, MOST_JOINED_LISTS } from "../formats/cdb-join.ts";
import { CDB_HEADER_BYTES, CdbWriter } from "../formats/cdb-writer.ts";
import { dnsdistLua } from "../formats/dnsdist-lua.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { StateFile } from "../host/state-file.ts";
import { recordFolder } from "../record/record-folder.ts";
import { luaName } from "./cdb-file.ts";
import { ListFile, type WriteOutcome } from "./list-file.ts";
import type { OutputFile } from "./output-file.ts";

/** A list in a joined database. */
export interface JoinedList {
  readonly list: string;
  /** The path of its own database. */
  readonly path: string;
}

/** What a joined database has become. */
export interface JoinReport {
  readonly file: string;
  readonly outcome: WriteOutcome;
  readonly lists: number;
  /** The number of records. */
  readonly names: number;
  readonly bytes: number;
}

interface KeptList extends JoinedList {
  /** Its database when it was joined. */
  readonly stamp: string;
}

interface JoinState {
  /** A list keeps its place, because dnsdist knows it by that until it is restarted. Removed lists leave an empty one. */
  readonly lists: readonly (KeptList | null)[];
}

/**
 * Joins the databases of lists as they are published now. `current` are the names of all lists that exist; without it, no list
 * is removed. Returns undefined if nothing has changed. Rejects with a `CompilerError`.
 */
export async function joinDatabase(
  file: OutputFile,
  lists: readonly JoinedList[],
  current: ReadonlySet<string> | undefined,
  host: Host,
): Promise<JoinReport | undefined> {
  const name = `${host.path.basename(file.path)}.lists`;
  const state = new StateFile(
    host.path.join(recordFolder(file.path, host), name),
    isJoinState,
    host,
  );
  const before = (await state.read())?.lists ?? [];
  const members = placed(before, lists, current);
  if (members.length > MOST_JOINED_LISTS)
    throw new CompilerError([
      errorOf(
        "config-invalid",
        `${printable(file.name)} would join ${members.length} lists; at most ${MOST_JOINED_LISTS} are possible`,
        { hint: "Give some lists another `join`" },
      ),
    ]);
  const now: (KeptList | null)[] = [];
  for (const one of members)
    now.push(one && { ...one, stamp: (await host.stampOf(one.path))?.text ?? "" });
  if (JSON.stringify(before) === JSON.stringify(now) && (await host.exists(file.path)))
    return undefined;
  const report = await write(file, members, host);
  await state.tryReplace({ lists: now });
  return report;
}

/** Each list at the place that it had before; new ones at the end. */
function placed(
  before: readonly (JoinedList | null)[],
  lists: readonly JoinedList[],
  current: ReadonlySet<string> | undefined,
): (JoinedList | null)[] {
  const kept = before.map((old) => {
    if (old === null || (current !== undefined && !current.has(old.list))) return null;
    return lists.find(({ list }) => list === old.list) ?? { list: old.list, path: old.path };
  });
  const known = new Set(kept.map((one) => one?.list));
  return [...kept, ...lists.filter(({ list }) => !known.has(list))];
}

async function write(
  { name, path }: OutputFile,
  members: readonly (JoinedList | null)[],
  host: Host,
): Promise<JoinReport> {
  const file = new ListFile(path, host);
  const lua = new ListFile(luaName(path), host);
  const join = new CdbJoin(() => scratchOf(host));
  let writer: CdbWriter | undefined;
  try {
    await file.open();
    await lua.open();
    writer = new CdbWriter(file, () => scratchOf(host));
    for (const [place, member] of members.entries())
      if (member !== null && (await host.exists(member.path)))
        await addDatabase(member.path, place, join, host);
    join.finish(writer);
    if (writer.isFull)
      throw new CompilerError([
        errorOf("database-too-large", `${printable(name)} would have more than 4 GiB`),
      ]);
    const { count: names, bytes } = writer;
    writer.finish();
    lua.write(encodeUtf8(dnsdistLua(members.map((member) => member?.list))));
    // The rules first: a restart that meets the new database with the old ones would not know its lists.
    const outcomes = [await lua.publish(), await file.publishLater()];
    const outcome = outcomes.includes("written") ? "written" : "unchanged";
    const lists = members.filter((member) => member !== null).length;
    return { file: name, outcome, lists, names, bytes };
  } finally {
    writer?.close();
    join.close();
    await lua.close();
    await file.close();
  }
}

const BLOCK = 4 * 1024 * 1024;
const RECORD_HEAD_BYTES = 8;
const BLOCKED = 49;

/** Reads the records of the database of a list. */
async function addDatabase(path: string, list: number, join: CdbJoin, host: Host): Promise<void> {
  const file = await host.openFile(path);
  try {
    const end = await endOfRecords(file);
    const bytes = new Uint8Array(BLOCK);
    for (let from = CDB_HEADER_BYTES; from < end;) {
      const block = await readFully(file, bytes.subarray(0, Math.min(BLOCK, end - from)), from);
      const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
      let at = 0;
      while (at + RECORD_HEAD_BYTES <= block.length) {
        const key = at + RECORD_HEAD_BYTES;
        const keyEnd = key + view.getUint32(at, true);
        const next = keyEnd + view.getUint32(at + 4, true);
        if (next > block.length) break;
        join.add(list, block, [key, keyEnd], block[keyEnd] === BLOCKED);
        at = next;
      }
      if (at === 0) throw damaged();
      from += at;
    }
  } finally {
    await file.close();
  }
}

/** The tables follow the records. */
async function endOfRecords(file: OpenFile): Promise<number> {
  const header = await readFully(file, new Uint8Array(CDB_HEADER_BYTES), 0);
  if (header.length < CDB_HEADER_BYTES) throw damaged();
  const end = new DataView(header.buffer, header.byteOffset).getUint32(0, true);
  if (end < CDB_HEADER_BYTES || end > file.size) throw damaged();
  return end;
}

function damaged(): HostError {
  return new HostError("EINVAL", "a database of a list is damaged: compile it again");
}

function isJoinState(value: unknown): value is JoinState {
  const { lists } = value as Partial<JoinState>;
  return Array.isArray(lists) && lists.every((one: unknown) => one === null || isKeptList(one));
}

function isKeptList(value: unknown): value is KeptList {
  const { list, path, stamp } = value as Partial<KeptList>;
  return [list, path, stamp].every((one) => typeof one === "string");
}
