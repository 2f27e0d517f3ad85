import { CompilerError } from "../diagnostics/diagnostic.ts";
import { HostError } from "../host/host.ts";
import type { AcquireContext, Acquired, RemoteSource } from "./acquire.ts";
import { exactChange, isMixed, writeHeldText } from "./held-text.ts";
import type { Change } from "./size-judge.ts";
import { SourceGauge, type SourceMeasure, freshSalt } from "./source-gauge.ts";
import type { FreedNow } from "./freed-budget.ts";
import type { OfferVerdict } from "./source-ledger.ts";
import { SourceList } from "./source-list.ts";
import type { SourceStore, StoredFile } from "./source-store.ts";
import { StoredTexts } from "./web-texts.ts";

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
  const compare = (): Promise<Change | undefined> =>
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
