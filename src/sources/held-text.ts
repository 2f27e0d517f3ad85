import { Buffer } from "node:buffer";
import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
} from "node:crypto";
import { CR, LF } from "../bytes/text.ts";
import { CompilerError } from "../diagnostics/render.ts";
import { HostError } from "../host/host.ts";
import { Fate } from "../rules/fate.ts";
import type { AcquireContext, Acquired, RemoteSource } from "./acquire.ts";
import type { SourceStore, StoredFile } from "./copies.ts";
import { StoredTexts } from "./fetch-text.ts";
import type { FreedNow, HoldWay, OfferVerdict } from "./ledger.ts";
import {
  CoveredNames,
  LINE_COUNT,
  SourceGauge,
  type SourceMeasure,
  freshSalt,
} from "./names-of-source.ts";
import type { TextChange } from "./size-judge.ts";
import { type LineSink, SourceList } from "./source-list.ts";

/** A text that can be read several times. */
export interface Rereadable {
  readAhead(sink: LineSink): Promise<void>;
}

type Taker = (bytes: Uint8Array, start: number, end: number) => void;

async function eachPart(text: Rereadable, take: Taker): Promise<void> {
  await text.readAhead({
    ...LINE_COUNT,
    read(file, block, stretch) {
      void LINE_COUNT.read(file, block, stretch);
      if (stretch.fate === Fate.Kept) take(block.bytes, stretch.start, stretch.end);
    },
  });
}

async function namesOf(text: Rereadable, seed: number): Promise<CoveredNames> {
  const names = new CoveredNames(seed);
  await eachPart(text, (bytes, start, end) => names.add(bytes, start, end));
  return names;
}

/** The exact change from one text to another: the shares of its names that are no longer covered, or newly covered. */
export async function exactChange(before: Rereadable, now: Rereadable): Promise<TextChange> {
  const seed = freshSalt();
  const [old, fresh] = [await namesOf(before, seed), await namesOf(now, seed)];
  let [lost, gained] = [0, 0];
  await eachPart(before, (bytes, start, end) => {
    lost += old.countMissing(bytes, { start, end }, fresh);
  });
  await eachPart(now, (bytes, start, end) => {
    gained += fresh.countMissing(bytes, { start, end }, old);
  });
  const size = Math.max(1, old.size);
  return { lost: lost / size, gained: gained / size };
}

/** Whether the text of a held source is made of both texts, line by line. */
export function isMixed(ways: readonly HoldWay[]): boolean {
  return ways.length === 1 && (ways[0] === "grown" || ways[0] === "shrunk");
}

/**
 * Writes the text of a source that is held for one limit: for growth, the published lines that the offer still has; for
 * shrinking, the offer and the published lines that it lacks.
 */
export async function writeHeldText(
  way: HoldWay,
  { published, offer }: { readonly published: Rereadable; readonly offer: Rereadable },
  write: (bytes: Uint8Array) => void,
): Promise<void> {
  const known = await namesOf(offer, freshSalt());
  if (way === "shrunk") {
    let last = LF;
    await eachPart(offer, (bytes, start, end) => {
      if (end === start) return;
      write(bytes.subarray(start, end));
      last = bytes[end - 1]!;
    });
    if (last !== LF) write(NEW_LINE);
  }
  await eachPart(published, (bytes, start, end) => {
    let from = start;
    known.explain(bytes, { start, end }, (line, isKnown) => {
      if (isKnown) return;
      const next = nextLine(bytes, line, end);
      if (way === "grown") write(bytes.subarray(from, line));
      else {
        write(bytes.subarray(line, next));
        if (bytes[next - 1] !== LF) write(NEW_LINE);
      }
      from = next;
    });
    if (way === "grown") write(bytes.subarray(from, end));
  });
}

const NEW_LINE = Uint8Array.of(LF);

function nextLine(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++;
  while (at < end && (bytes[at] === LF || bytes[at] === CR)) at++;
  return at;
}

/** A source differs too much from its published text to be accepted at once. */
export class HeldError extends CompilerError {
  readonly verdict: OfferVerdict;
  readonly files: readonly StoredFile[];

  constructor(verdict: OfferVerdict, files: readonly StoredFile[]) {
    super(verdict.causes);
    this.verdict = verdict;
    this.files = files;
  }
}

/** Compares a text with the history of its source. Throws a `HeldError` for one that differs too much. */
export async function judgeOffer(
  source: RemoteSource,
  { list, measure, files }: ReadText & { readonly measure: SourceMeasure },
  context: AcquireContext,
): Promise<void> {
  const { ledgerKey: key, bounds: limits, label, accept } = source;
  const { ledger, store } = context;
  if (ledger === undefined || limits === undefined) return;
  const withPublished = async <T>(
    use: (text: SourceList | undefined) => Promise<T>,
  ): Promise<T> => {
    const published = store && (await publishedText(source, { ...context, store }));
    try {
      return await use(published?.list);
    } finally {
      published?.list.close();
    }
  };
  const compare = (): Promise<TextChange | undefined> =>
    withPublished(async (before) => before && (await exactChange(before, list)));
  const frees =
    source.frees &&
    ((): Promise<FreedNow> => withPublished((before) => source.frees!(list, before)));
  const offer = { key, label, measure, files, limits, accept, compare, frees };
  const verdict = await ledger.judge(offer);
  if (verdict.causes.length > 0) throw new HeldError(verdict, files);
  ledger.take(key, { label: source.name, files, measure, verdict });
}

/** A text, and the files that it consists of. */
interface ReadText {
  readonly list: SourceList;
  readonly files: readonly StoredFile[];
}

type StoringContext = AcquireContext & { readonly store: SourceStore };

/** A text from the store. */
export function listOf(
  source: RemoteSource,
  files: readonly StoredFile[],
  { store, fetch, load }: StoringContext,
): SourceList {
  const texts = new StoredTexts({ store, record: { files } }, source.isSecret);
  const location = { kind: "web", url: source.url } as const;
  return new SourceList({ location, label: source.label, texts }, fetch.host, load);
}

/** The text that was published last, if the store still has it. */
export async function publishedText(
  source: RemoteSource,
  context: StoringContext,
): Promise<(ReadText & { readonly goodAt: number }) | undefined> {
  const history = context.ledger?.historyOf(source.ledgerKey);
  if (history === undefined) return undefined;
  const { files, texts } = history;
  const list = listOf(source, files, context);
  try {
    await list.check();
    return { list, files, goodAt: texts.at(-1)!.at };
  } catch (error) {
    list.close();
    if (!(error instanceof CompilerError)) throw error;
    return undefined;
  }
}

/** What a held source contributes: its published text, without what it removed or with what it added. */
export async function acquireHeld(
  source: RemoteSource,
  { verdict, files: offered }: HeldError,
  context: AcquireContext,
): Promise<Acquired> {
  const { causes, ways, until } = verdict;
  const { ledgerKey: key, name: label, kind } = source;
  const { store } = context;
  const ledger = context.ledger!;
  const history = ledger.historyOf(key)!;
  // A hold lasts and ends also if the published text is lost, and nothing is used instead.
  ledger.take(key, { label, files: history.files, measure: undefined, verdict });
  const published = store && (await publishedText(source, { ...context, store }));
  if (store === undefined || published === undefined) throw new CompilerError(causes);
  const { goodAt } = published;
  const storing = { ...context, store };
  const files = await heldFiles(source, published, { ways, offered }, storing);
  let { list } = published;
  if (files !== published.files) {
    list.close();
    list = listOf(source, files, storing);
  }
  const measure = await measureOf(list, history.salt, kind.watched);
  ledger.take(key, { label, files, measure, verdict });
  await kind.judge(measure.watched, list);
  return { list, state: { kind: "held", goodAt, until, causes }, files };
}

async function measureOf(
  list: SourceList,
  salt: number,
  watched: ReadonlySet<string> = new Set(),
): Promise<SourceMeasure> {
  const gauge = new SourceGauge(salt, watched);
  await list.check(gauge);
  return gauge.measure;
}

async function heldFiles(
  source: RemoteSource,
  published: ReadText,
  { ways, offered }: Pick<OfferVerdict, "ways"> & { readonly offered: readonly StoredFile[] },
  context: StoringContext,
): Promise<readonly StoredFile[]> {
  const [file] = published.files;
  const isPlain = source.isLines && published.files.length === 1 && offered.length === 1;
  if (!isPlain || !isMixed(ways)) return published.files;
  const offer = listOf(source, offered, context);
  try {
    const texts = { published: published.list, offer };
    const own = await context.store.add((write) => writeHeldText(ways[0]!, texts, write));
    return [{ key: file!.key, validators: {}, ...own }];
  } catch (error) {
    if (error instanceof HostError) context.onStoreError(error);
    else if (!(error instanceof CompilerError)) throw error;
    return published.files;
  } finally {
    offer.close();
  }
}

/**
 * Records the text that is used instead of the source, without an offer. False if it is not the published text, which is lost, and
 * differs too much from it.
 */
export async function takeCopy(
  source: RemoteSource,
  { list, files, isPublished }: ReadText & { readonly isPublished: boolean },
  { ledger }: AcquireContext,
): Promise<boolean> {
  const { ledgerKey: key, label, name, bounds: limits, accept } = source;
  if (ledger === undefined || limits === undefined) return true;
  const history = ledger.historyOf(key);
  const measure = await measureOf(list, history?.salt ?? freshSalt());
  if (!isPublished) {
    const { causes } = await ledger.judge({ key, label, measure, files, limits, accept });
    if (causes.length > 0) return false;
  }
  if (ledger.takenOf(key) === undefined)
    ledger.take(key, { label: name, files, measure, verdict: undefined });
  return true;
}

/** Signatures in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b digest of a file. */

const ALGORITHM = Buffer.from("Ed");
const PREHASHED = Buffer.from("ED");
/** The DER prefixes of the 32 raw bytes of an Ed25519 key. */
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex");
/** Algorithms, salt and limits. */
const SECRET_HEADER_BYTES = 54;

export interface MinisignKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** Reads a secret key file; returns a text if it is invalid. */
export function readSecretKey(text: string): MinisignKey | string {
  const bytes = Buffer.from(text.split("\n")[1]?.trim() ?? "", "base64");
  if (bytes.length !== 158 || !bytes.subarray(0, 2).equals(ALGORITHM))
    return "it is not a minisign secret key";
  if (bytes[2] !== 0 || bytes[3] !== 0)
    return "it has a password; create one without: minisign -G -W";
  const id = bytes.subarray(SECRET_HEADER_BYTES, SECRET_HEADER_BYTES + 8);
  const seed = bytes.subarray(SECRET_HEADER_BYTES + 8, SECRET_HEADER_BYTES + 40);
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_DER, seed]),
    format: "der",
    type: "pkcs8",
  });
  return { id, key };
}

/** Reads a public key: the whole file, or its last line. */
export function readPublicKey(text: string): MinisignKey | undefined {
  const line = text.trim().split("\n").at(-1)!.trim();
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== 42 || !bytes.subarray(0, 2).equals(ALGORITHM)) return undefined;
  const key = createPublicKey({
    key: Buffer.concat([PUBLIC_DER, bytes.subarray(10)]),
    format: "der",
    type: "spki",
  });
  return { id: bytes.subarray(2, 10), key };
}

/** Creates a signature file. The signature includes the comment. */
export function signatureFile(
  bytes: Uint8Array,
  { id, key }: MinisignKey,
  comment: string,
): string {
  const signature = sign(null, blake2b([bytes]), key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  return [
    "untrusted comment: signature from rules-compiler",
    Buffer.concat([PREHASHED, id, signature]).toString("base64"),
    `trusted comment: ${comment}`,
    global.toString("base64"),
    "",
  ].join("\n");
}

/** Why a signature file does not show that the owner of one of the keys signed these bytes; undefined if it does. */
export function signatureProblem(
  pieces: Iterable<Uint8Array>,
  file: string,
  keys: readonly MinisignKey[],
): string | undefined {
  const [, line = "", trusted = "", last = ""] = file.split(/\r?\n/);
  const raw = Buffer.from(line, "base64");
  const algorithm = raw.subarray(0, 2);
  if (raw.length !== 74) return "the signature is not one of minisign";
  if (algorithm.equals(ALGORITHM))
    return "the signature is in the old form, without a digest; minisign -S -H writes the new one";
  if (!algorithm.equals(PREHASHED)) return "the signature is not one of minisign";
  const own = keys.filter(({ id }) => raw.subarray(2, 10).equals(id));
  if (own.length === 0) return "another key signed it";
  const signature = raw.subarray(10);
  const comment = Buffer.from(trusted.replace(/^trusted comment: /, ""));
  const global = Buffer.concat([signature, comment]);
  const digest = blake2b(pieces);
  const isSigned = own.some(
    ({ key }) =>
      verify(null, digest, key, signature) &&
      verify(null, global, key, Buffer.from(last, "base64")),
  );
  return isSigned ? undefined : "its bytes are not those that were signed";
}

function blake2b(pieces: Iterable<Uint8Array>): Buffer {
  const hash = createHash("blake2b512");
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
