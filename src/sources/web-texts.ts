import { type FetchContext, fetchText } from "./fetch-text.ts";
import { shownAddress, sourceError } from "./source-error.ts";
import { type SourceRecord, type SourceStore, type StoredFile, digestOf } from "./source-store.ts";
import type { WebPlace, WebText } from "./web-text.ts";

/** The texts that a source is made of, each fetched once: the list itself and what it includes. */
export interface WebTexts {
  /** Whether texts say which address answered. */
  readonly knowsPlaces: boolean;
  get(place: WebPlace): Promise<WebText>;
  close(): void;
}

/** What the last good state of a source is, and where it lies. */
export interface LastGood {
  readonly store: SourceStore;
  readonly record: Pick<SourceRecord, "files">;
}

/** Texts from the network, or from the last good state where the server says that it still holds. */
export class FetchedTexts implements WebTexts {
  readonly knowsPlaces = true;
  /** All that was fetched, by id. */
  readonly files: Map<string, WebText> = new Map();
  /** Whether every text is the same as last time. */
  isUnchanged = true;
  private readonly context: FetchContext;
  private readonly last: LastGood | undefined;

  constructor(context: FetchContext, last: LastGood | undefined) {
    this.context = context;
    this.last = last;
  }

  async get(place: WebPlace): Promise<WebText> {
    const known = this.files.get(place.id);
    if (known !== undefined) return known;
    const text = await this.fetch(place);
    this.files.set(place.id, text);
    return text;
  }

  private async fetch({ url, id }: WebPlace): Promise<WebText> {
    const last = await this.last?.store.textOf(this.last.record, { url, id });
    const room = this.context.limits.maxBytes - this.size;
    let answer;
    try {
      answer = await fetchText(url, last?.validators, { ...this.context, room });
    } catch (error) {
      last?.close();
      throw error;
    }
    const isMoved = !URL.canParse(id) || new URL(id).href !== answer.url;
    if (!("open" in answer)) return { ...last!, url: answer.url, isMoved };
    last?.close();
    this.isUnchanged = false;
    return { ...answer, key: await digestOf(id), isMoved };
  }

  /** Bytes of all texts together. */
  get size(): number {
    return [...this.files.values()].reduce((sum, text) => sum + text.size, 0);
  }

  /** Reads from the copies that were kept from now on, and gives the temporary folder back what lay there. */
  async moveInto(store: SourceStore, copies: readonly StoredFile[]): Promise<void> {
    for (const [id, text] of this.files) {
      const copy = copies.find(({ key }) => key === text.key);
      const kept =
        text.sha256 === undefined && copy !== undefined ? await store.open(copy) : undefined;
      if (kept === undefined) continue;
      this.files.set(id, { ...text, ...kept });
      text.close();
    }
  }

  close(): void {
    for (const text of this.files.values()) text.close();
    this.files.clear();
  }
}

/** Texts of the last good state, without the network. */
export class StoredTexts implements WebTexts {
  readonly knowsPlaces = false;
  private readonly last: LastGood;
  private readonly isSecret: boolean;
  private readonly files = new Map<string, WebText>();

  constructor(last: LastGood, isSecret: boolean) {
    this.last = last;
    this.isSecret = isSecret;
  }

  async get(place: WebPlace): Promise<WebText> {
    const known = this.files.get(place.id);
    if (known !== undefined) return known;
    const text = await this.last.store.textOf(this.last.record, place);
    if (text === undefined) {
      const shown = shownAddress(place.url, this.isSecret);
      throw sourceError("fetch-failed", `Failed to fetch ${shown}`, "its cached copy was removed");
    }
    this.files.set(place.id, text);
    return text;
  }

  close(): void {
    for (const text of this.files.values()) text.close();
    this.files.clear();
  }
}
