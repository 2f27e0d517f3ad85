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

/** Whether the text that was fetched last differs too much from the published one, which is lost. */
export async function isHeldCopy(
  source: RemoteSource,
  { list, files }: ReadText,
  { ledger }: AcquireContext,
): Promise<boolean> {
  const { ledgerKey: key, label, bounds: limits, accept } = source;
  const history = ledger?.historyOf(key);
  if (history === undefined || limits === undefined) return false;
  const gauge = new SourceGauge(history.salt, new Set());
  await list.check(gauge);
  const { causes } = await ledger!.judge({
    key,
    label,
    measure: gauge.measure,
    files,
    limits,
    accept,
  });
  return causes.length > 0;
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

/** A hold lasts and ends also if the published text is lost, and nothing is used instead. */
export function noteHold(
  { ledgerKey: key, name: label }: RemoteSource,
  { verdict }: HeldError,
  { ledger }: AcquireContext,
): void {
  const { files } = ledger!.historyOf(key)!;
  ledger!.take(key, { label, files, measure: undefined, verdict });
}

/** What a held source contributes: its published text, without what it removed or with what it added. */
export async function acquireHeld(
  source: RemoteSource,
  { verdict, files: offered }: HeldError,
  context: StoringContext,
): Promise<Acquired> {
  const { causes, ways, until } = verdict;
  const published = await publishedText(source, context);
  if (published === undefined) throw new CompilerError(causes);
  const { goodAt } = published;
  const { ledger } = context;
  const files = await heldFiles(source, published, { ways, offered }, context);
  let { list } = published;
  if (files !== published.files) {
    list.close();
    list = listOf(source, files, context);
  }
  const { ledgerKey: key } = source;
  const gauge = new SourceGauge(ledger!.historyOf(key)!.salt, source.kind.watched);
  await list.check(gauge);
  const { measure } = gauge;
  ledger!.take(key, { label: source.name, files, measure, verdict });
  await source.kind.judge(measure.watched, list);
  return { list, state: { kind: "held", goodAt, until, causes }, files };
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

/** Records the text that is used instead of the source, without an offer. */
export async function takeCopy(
  source: RemoteSource,
  { list, files }: ReadText,
  { ledger }: AcquireContext,
): Promise<void> {
  if (ledger === undefined || source.bounds === undefined) return;
  const { ledgerKey: key } = source;
  if (ledger.takenOf(key) !== undefined) return;
  const gauge = new SourceGauge(ledger.historyOf(key)?.salt ?? freshSalt(), new Set());
  await list.check(gauge);
  ledger.take(key, { label: source.name, files, measure: gauge.measure, verdict: undefined });
}
