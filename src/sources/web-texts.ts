import { type FetchContext, NOT_MODIFIED, fetchText } from "./fetch-text.ts";
import { shownAddress, sourceError } from "./source-error.ts";
import type { SourceRecord, SourceStore } from "./source-store.ts";
import type { WebText } from "./web-text.ts";

/** The texts that a source is made of, each fetched once: the list itself and what it includes. */
export interface WebTexts {
  get(url: string): Promise<WebText>;
  close(): void;
}

/** Texts from the network, or from the last good state where the server says that it still holds. */
export class FetchedTexts implements WebTexts {
  /** All that was fetched, by the address that was asked for. */
  readonly files: Map<string, WebText> = new Map();
  /** Whether every text is the same as last time. */
  isUnchanged = true;
  private readonly context: FetchContext;
  private readonly store: SourceStore | undefined;
  private readonly record: SourceRecord | undefined;

  constructor(
    context: FetchContext,
    store: SourceStore | undefined,
    record: SourceRecord | undefined,
  ) {
    this.context = context;
    this.store = store;
    this.record = record;
  }

  async get(url: string): Promise<WebText> {
    const known = this.files.get(url);
    if (known !== undefined) return known;
    const { store, record } = this;
    const last = record === undefined ? undefined : await store?.textOf(record, url);
    let text = await fetchText(url, last?.validators, this.context);
    if (text === NOT_MODIFIED) text = last!;
    else this.isUnchanged = false;
    this.files.set(url, text);
    return text;
  }

  close(): void {
    for (const text of this.files.values()) text.close();
    this.files.clear();
  }
}

/** Texts of the last good state, without the network. */
export class StoredTexts implements WebTexts {
  private readonly store: SourceStore;
  private readonly record: Pick<SourceRecord, "files">;

  constructor(store: SourceStore, record: Pick<SourceRecord, "files">) {
    this.store = store;
    this.record = record;
  }

  async get(url: string): Promise<WebText> {
    const text = await this.store.textOf(this.record, url);
    if (text === undefined)
      throw sourceError("fetch-failed", `Failed to fetch ${shownAddress(url)}`, "its copy is gone");
    return text;
  }

  close(): void {}
}
