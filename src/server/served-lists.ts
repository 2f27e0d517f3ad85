import { recordFolder } from "../library/programs.ts";
import { createHash } from "node:crypto";
import { PACKED_ENDINGS, ifAvailable, temporaryFor } from "../host/files.ts";
import {
  type FileStamp,
  type Host,
  HostError,
  type OpenFile,
  type Packing,
  type WebReply,
  type WebRequest,
} from "../host/host.ts";
import type { SuccessfulBuild } from "./history.ts";
import type { EventLog } from "./serve.ts";

/** How long the store may miss that another process published a list. */
const REFRESH_MS = 1000;

/** The current versions of the lists that are served. */
export class ListStore {
  private readonly host: Host;
  private readonly log: EventLog;
  private readonly root: string | undefined;
  private paths: readonly string[] = [];
  private current: () => Promise<readonly string[]> = async () => this.paths;
  private readonly versions = new Map<string, ListVersion>();
  private refreshedAt = -Infinity;
  private refreshing: Promise<void> | undefined;
  private packing: Promise<void> = Promise.resolve();
  private problem: string | undefined;

  /** A list below `root` is named by its path relative to `root`, any other by its file name. */
  constructor(host: Host, log: EventLog, root?: string) {
    this.host = host;
    this.log = log;
    this.root = root;
  }

  nameOf(path: string): string {
    const name = this.root === undefined ? ".." : this.host.path.relative(this.root, path);
    const isOutside = name.startsWith("..") || this.host.path.isAbsolute(name);
    return isOutside ? this.host.path.basename(path) : name.replaceAll(this.host.path.sep, "/");
  }

  /** Sets the files to serve. `current` finds them again at each refresh, if they can change. */
  serve(
    paths: readonly string[],
    current: () => Promise<readonly string[]> = async () => paths,
  ): void {
    this.paths = paths;
    this.current = current;
  }

  get names(): string[] {
    return this.paths.map((path) => this.nameOf(path));
  }

  get missing(): string[] {
    return this.names.filter((name) => !this.versions.has(name));
  }

  get all(): ListVersion[] {
    return [...this.versions.values()];
  }

  /** The current version of a list. Starts a refresh in the background when one is due. */
  find(name: string): ListVersion | undefined {
    if (this.host.now().getTime() - this.refreshedAt > REFRESH_MS)
      this.refresh().then(
        () => (this.problem = undefined),
        (error: unknown) => this.note((error as Error).message),
      );
    return this.versions.get(name);
  }

  /** The same for a file that may just have been published: if a refresh is due, it comes first. */
  findNew(name: string): ListVersion | undefined | Promise<ListVersion | undefined> {
    const found = this.find(name);
    if (found !== undefined || this.refreshing === undefined) return found;
    return this.refreshing.then(() => this.versions.get(name));
  }

  /** What lasts is logged once. */
  private note(reason: string): void {
    if (reason !== this.problem) this.log.write("error", "not-read", { what: "files", reason });
    this.problem = reason;
  }

  /** Reads the lists that changed on disk. */
  refresh(): Promise<void> {
    this.refreshing ??= this.readChanges().finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  /** Like `refresh`, but sees everything that was published before the call. */
  async refreshNow(): Promise<void> {
    await this.refreshing;
    await this.refresh();
  }

  /** Resolves when no compression is in progress. */
  async settled(): Promise<void> {
    await this.packing;
  }

  private async readChanges(): Promise<void> {
    this.refreshedAt = this.host.now().getTime();
    this.paths = await this.current();
    const existing = new Set<string>();
    for (const path of this.paths) {
      const name = this.nameOf(path);
      const old = this.versions.get(name);
      const stamp = await this.host.stampOf(path);
      if (stamp === undefined) continue;
      existing.add(name);
      if (stamp.text === old?.fingerprint) continue;
      const found = await readListVersion(path, packedFolder(path, this.host), this.host);
      if (found === undefined) continue;
      const version = { ...found, name };
      this.versions.set(name, version);
      this.pack(path, version);
    }
    for (const name of this.versions.keys()) if (!existing.has(name)) this.versions.delete(name);
  }

  /** Compresses in the background; until then the list is served uncompressed. */
  private pack(path: string, version: ListVersion): void {
    if (this.host.packFile === undefined) return;
    this.packing = this.packing
      .then(async () => {
        await packListVersion(path, version, packedFolder(path, this.host), this.host);
        const packed = await readListVersion(path, packedFolder(path, this.host), this.host);
        const isCurrent = this.versions.get(version.name) === version;
        if (isCurrent && packed?.fingerprint === version.fingerprint)
          this.versions.set(version.name, { ...packed, name: version.name });
      })
      .catch((error: unknown) =>
        this.log.write("warning", "not-packed", {
          list: version.name,
          reason: (error as Error).message,
        }),
      );
  }
}

/** Up to this size a list and its compressed variants are kept in memory. */
const IN_MEMORY = 64 * 1024 * 1024;
const BLOCK = 256 * 1024;

const PACKINGS = Object.entries(PACKED_ENDINGS) as [Packing, string][];

/** A list with one content encoding. Its bytes never change; a new version of the list has new variants. */
interface Variant {
  readonly packing: Packing | undefined;
  readonly size: number;
  /** A strong validator: different bytes have different tags. */
  readonly etag: string;
  /** The headers of a complete response. */
  readonly headers: Readonly<Record<string, string>>;
  /** A range of the bytes. Rejects with a `HostError` if the file is gone. */
  read(start: number, end: number): Uint8Array | AsyncIterable<Uint8Array>;
}

/** A published list at one point in time. */
export interface ListVersion {
  readonly name: string;
  /** Identifies the version: a digest of its bytes. */
  readonly tag: string;
  /** When it was published, in whole seconds. */
  readonly modified: Date;
  readonly fingerprint: string;
  /** The uncompressed variant comes first. */
  readonly variants: readonly Variant[];
  readonly size: number;
}

/** Reads a list; undefined if it does not exist. Lists are replaced, never modified, so an open file stays complete. */
async function readListVersion(
  path: string,
  packedIn: string,
  host: Host,
): Promise<ListVersion | undefined> {
  return await ifAvailable(async () => {
    const { digest, stamp, size, bytes } = await readList(path, host);
    const tag = digest.slice(0, 32);
    const modified = new Date(Math.floor(Math.max(0, stamp.changed) / 1000) * 1000);
    const fingerprint = stamp.text;
    const variants = [variantOf({ path, fingerprint, bytes, size, tag }, modified, host)];
    for (const [packing, ending] of PACKINGS) {
      const packed = await readPacked(
        host.path.join(packedIn, `${host.path.basename(path)}.${tag}.${ending}`),
        host,
      );
      if (packed !== undefined)
        variants.push(variantOf({ ...packed, tag: `${tag}-${ending}`, packing }, modified, host));
    }
    return { name: host.path.basename(path), tag, modified, fingerprint, variants, size };
  });
}

/** Writes the compressed variants of a version and removes those of earlier ones. Rejects with a `HostError`. */
async function packListVersion(
  path: string,
  { tag, variants, fingerprint }: ListVersion,
  packedIn: string,
  host: Host,
): Promise<void> {
  await host.makeFolder(packedIn);
  const current = new Set<string>();
  for (const [packing, ending] of PACKINGS) {
    const packed = host.path.join(packedIn, `${host.path.basename(path)}.${tag}.${ending}`);
    current.add(host.path.basename(packed));
    if (variants.some((variant) => variant.packing === packing)) continue;
    const temporary = temporaryFor(packed);
    try {
      await host.packFile?.(path, temporary, packing);
      // The list may have been replaced meanwhile; then these are the bytes of another version.
      if ((await host.stampOf(path))?.text !== fingerprint) return;
      if ((await host.sizeOf(temporary)) > 0) await host.rename(temporary, packed);
    } finally {
      await host.removeFile(temporary).catch(() => {});
    }
  }
  for (const name of await host.listFolder(packedIn))
    if (isPacked(name, host.path.basename(path)) && !current.has(name))
      await host.removeFile(host.path.join(packedIn, name)).catch(() => {});
}

function isPacked(name: string, list: string): boolean {
  return (
    name.startsWith(`${list}.`) &&
    /^[0-9a-f]{32}\.(?:gz|br|zst)(?:\.[a-z0-9]+\.tmp)?$/.test(name.slice(list.length + 1))
  );
}

async function readList(
  path: string,
  host: Host,
): Promise<{ digest: string; stamp: FileStamp; size: number; bytes: Uint8Array | undefined }> {
  const file = await host.openFile(path);
  try {
    const hash = createHash("sha256");
    const bytes = file.size <= IN_MEMORY ? new Uint8Array(file.size) : undefined;
    let size = 0;
    for (;;) {
      const block = new Uint8Array(BLOCK);
      const count = await file.read(block);
      if (count === 0) break;
      const part = block.subarray(0, count);
      hash.update(part);
      if (bytes !== undefined && size + count > bytes.length)
        throw new HostError("EAGAIN", "the file grew while it was read");
      bytes?.set(part, size);
      size += count;
    }
    return { digest: hash.digest("hex"), stamp: file.stamp, size, bytes };
  } finally {
    await file.close();
  }
}

async function readPacked(
  path: string,
  host: Host,
): Promise<Omit<StoredVariant, "tag"> | undefined> {
  const fingerprint = (await host.stampOf(path))?.text;
  if (fingerprint === undefined) return undefined;
  const size = await host.sizeOf(path);
  const bytes = size <= IN_MEMORY ? await host.readFile(path) : undefined;
  return { path, fingerprint, size, bytes };
}

interface StoredVariant {
  readonly path: string;
  readonly fingerprint: string;
  readonly size: number;
  /** Undefined if there are too many to keep in memory. */
  readonly bytes: Uint8Array | undefined;
  readonly tag: string;
  readonly packing?: Packing;
}

function variantOf(stored: StoredVariant, modified: Date, host: Host): Variant {
  const { size, bytes, tag, packing } = stored;
  const etag = `"${tag}"`;
  return {
    packing,
    size,
    etag,
    headers: {
      etag,
      "last-modified": modified.toUTCString(),
      "cache-control": "no-cache",
      vary: "accept-encoding",
      "accept-ranges": "bytes",
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-length": String(size),
      ...(packing === undefined ? {} : { "content-encoding": packing }),
    },
    read: (start, end) =>
      bytes === undefined ? readChunks(stored, start, end, host) : bytes.subarray(start, end),
  };
}

async function* readChunks(
  { path, fingerprint }: StoredVariant,
  start: number,
  end: number,
  host: Host,
): AsyncGenerator<Uint8Array> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    if (file.stamp.text !== fingerprint) throw new HostError("ESTALE", "the list was replaced");
    for (let at = start; at < end;) {
      const chunk = new Uint8Array(Math.min(BLOCK, end - at));
      const count = await file.read(chunk, at);
      if (count === 0) throw new HostError("EIO", "the file was truncated");
      yield chunk.subarray(0, count);
      at += count;
    }
  } finally {
    await file?.close();
  }
}

/** The folder for the compressed variants of a list. */
function packedFolder(path: string, host: Host): string {
  return host.path.join(recordFolder(path, host), "packed");
}

const PACKED = new RegExp(`\\.(?:${Object.values(PACKED_ENDINGS).join("|")})$`);

interface ServedFilesOptions {
  readonly host: Pick<Host, "path" | "cwd" | "exists">;
  /** The files that the configuration names. */
  readonly configured: readonly string[];
  /** The paths of all parts that are published of a file; the first one is that of the file. */
  readonly partsOf: (path: string) => Promise<readonly string[]>;
}

/**
 * The files of lists that may be served. A run that finds nothing to do reports files from what is stored, which may come from elsewhere:
 * of those, only files that the configuration names are served, with their parts. What a run has written is served, too.
 */
export class ServedFiles {
  private readonly options: ServedFilesOptions;
  private readonly known: Set<string>;
  /** Files that are not a further part of another file, whatever their names are. */
  private readonly wholes: Set<string>;

  constructor(options: ServedFilesOptions) {
    this.options = options;
    this.known = new Set(options.configured);
    this.wholes = new Set(options.configured);
  }

  /** The paths of what a run reported. */
  pathsOf(outputs: SuccessfulBuild["outputs"]): string[] {
    const { path: paths, cwd } = this.options.host;
    return outputs.flatMap(({ file, files = [file], outcome }) => {
      const all = new Set(files.map((one) => paths.resolve(cwd, one)));
      if (outcome === "written") for (const path of all) this.known.add(path);
      const found = [...all].filter((path) => this.isKnown(path));
      for (const path of found)
        if (path === this.wholeOf(path) || !all.has(this.wholeOf(path))) this.wholes.add(path);
      return found;
    });
  }

  /** The same files as they are now: another process may have rolled back to a build with more parts, or with fewer. */
  async withParts(reported: readonly string[]): Promise<string[]> {
    const { host, partsOf } = this.options;
    const expected = new Set(reported);
    const found = new Set<string>();
    const wholes = reported.filter((one) => this.wholes.has(one));
    for (const path of [...wholes, ...wholes.flatMap((one) => this.copiesOf(one))])
      for (const part of await partsOf(path))
        // During a publish there may be fewer parts than are noted.
        if (expected.has(part) || (await host.exists(part))) found.add(part);
    return [...found];
  }

  /** The files with the same names in another form that the configuration names: compressed, or the program for a database. */
  private copiesOf(path: string): string[] {
    const others = this.options.configured.filter((one) => one.startsWith(`${path}.`));
    return others.filter((one) => PACKED.test(one) || one.endsWith(".lua"));
  }

  /** `l-2.hosts.gz` belongs to `l.hosts`. */
  private isKnown(path: string): boolean {
    const plain = path.replace(PACKED, "");
    return [path, plain, this.wholeOf(plain)].some((one) => this.known.has(one));
  }

  /** `l-2.hosts` is a part of `l.hosts`. */
  private wholeOf(path: string): string {
    const { path: paths } = this.options.host;
    const name = paths.basename(path).replace(/-\d+(?=\.|$)/, "");
    return paths.join(paths.dirname(path), name);
  }
}

/** Answers a request for a list: content negotiation, ranges and conditional requests (RFC 9110). */
export function answerList(request: WebRequest, version: ListVersion): WebReply {
  const { headers: asked } = request;
  const variant = chooseVariant(version, asked["accept-encoding"]);
  const { headers, etag, size } = variant;
  if (isKnown(asked, etag, version.modified))
    return { status: 304, headers: bareOf(variant), body: "" };
  const wanted = asked["range"];
  const range =
    wanted === undefined || request.method !== "GET" || !isRangeGood(asked["if-range"], headers)
      ? "all"
      : parseRange(wanted, size);
  if (range === "all") {
    const body = request.method === "HEAD" ? "" : variant.read(0, size);
    return { status: 200, headers, body };
  }
  if (range === "none") {
    const none = { "content-range": `bytes */${size}`, "content-length": "0" };
    return { status: 416, headers: { ...bareOf(variant), ...none }, body: "" };
  }
  const [start, end] = range;
  const part = {
    "content-range": `bytes ${start}-${end - 1}/${size}`,
    "content-length": String(end - start),
  };
  return { status: 206, headers: { ...bareOf(variant), ...part }, body: variant.read(start, end) };
}

/** The headers without the length, for another body or none. */
function bareOf({ headers }: Variant): Record<string, string> {
  const { "content-length": _length, ...bare } = headers;
  return bare;
}

/** The smallest variant that the client accepts; the uncompressed one if it accepts nothing else, or nothing at all. */
function chooseVariant({ variants }: ListVersion, accepted: string | undefined): Variant {
  if (accepted === undefined || variants.length === 1) return variants[0]!;
  const weights = new Map<string, number>();
  for (const part of accepted.split(",")) {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2);
    if (name !== "") weights.set(name === "x-gzip" ? "gzip" : name, Number(quality ?? 1) || 0);
  }
  const isAccepted = ({ packing }: Variant): boolean =>
    packing !== undefined && (weights.get(packing) ?? weights.get("*") ?? 0) > 0;
  const packed = variants.filter(isAccepted).toSorted((a, b) => a.size - b.size)[0];
  return packed ?? variants[0]!;
}

function isKnown(asked: WebRequest["headers"], etag: string, modified: Date): boolean {
  const tags = asked["if-none-match"];
  if (tags !== undefined)
    return tags.split(",").some((tag) => [etag, "*"].includes(tag.trim().replace(/^W\//, "")));
  const since = asked["if-modified-since"];
  return since !== undefined && modified.getTime() <= Date.parse(since);
}

/** `If-Range`: a range is only useful to a client whose copy is still current. */
function isRangeGood(condition: string | undefined, headers: Variant["headers"]): boolean {
  return (
    condition === undefined ||
    condition === headers["etag"] ||
    condition === headers["last-modified"]
  );
}

/** Supports a single range. Several ranges and invalid ones yield the whole list, as RFC 9110 allows. */
function parseRange(text: string, size: number): [number, number] | "all" | "none" {
  const { first, last } = /^bytes=(?<first>\d{0,15})-(?<last>\d{0,15})$/.exec(text)?.groups ?? {};
  if (first === undefined || last === undefined || (first === "" && last === "")) return "all";
  if (first === "") return Number(last) === 0 ? "none" : [Math.max(0, size - Number(last)), size];
  if (last !== "" && Number(last) < Number(first)) return "all";
  if (Number(first) >= size) return "none";
  return [Number(first), last === "" ? size : Math.min(size, Number(last) + 1)];
}

/** The rules of the list that is published in a file; undefined if that is not known. */
export type RulesOf = (file: string) => number | undefined;

type ListsOfRun = NonNullable<SuccessfulBuild["lists"]>;

/** The lists of the last run, with the rules that each has now: a rollback, or another program, may have published another build. */
export function publishedLists(
  lastBuild: SuccessfulBuild | undefined,
  rulesOf: RulesOf = () => undefined,
): ListsOfRun {
  if (lastBuild === undefined) return [];
  const { lists, name, rules, outputs } = lastBuild;
  const all = lists ?? [{ name, rules, file: outputs[0]?.file ?? "" }];
  return all.map((one) => ({ ...one, rules: rulesOf(one.file) ?? one.rules }));
}

/** All rules of several lists. */
export function sumOfRules(lists: ListsOfRun): number {
  return lists.reduce((sum, { rules }) => sum + rules, 0);
}
