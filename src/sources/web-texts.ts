import { type FetchContext, fetchText } from "./fetch-text.ts";
import { shownAddress, sourceError } from "./source-error.ts";
import { type SourceRecord, type SourceStore, type StoredFile, digestOf } from "./source-store.ts";
import type { WebAddress, WebText } from "./web-text.ts";

/** The texts of a source, each fetched once: the list itself and its includes. */
export interface WebTexts {
  /** Whether texts know the address that answered. */
  readonly knowsPlaces: boolean;
  get(address: WebAddress): Promise<WebText>;
  close(): void;
}

/** The last good version of a source, and its store. */
export interface LastGood {
  readonly store: SourceStore;
  readonly record: Pick<SourceRecord, "files">;
}

/** Texts from the network, or from the last good version if the server confirms that it is current. */
export class FetchedTexts implements WebTexts {
  readonly knowsPlaces = true;
  /** Fetched texts by id. */
  readonly files: Map<string, WebText> = new Map();
  /** Whether every text is the same as last time. */
  isUnchanged = true;
  private readonly context: FetchContext;
  private readonly last: LastGood | undefined;

  constructor(context: FetchContext, last: LastGood | undefined) {
    this.context = context;
    this.last = last;
  }

  async get(address: WebAddress): Promise<WebText> {
    const known = this.files.get(address.id);
    if (known !== undefined) return known;
    const text = await this.fetch(address);
    this.files.set(address.id, text);
    return text;
  }

  private async fetch({ url, id }: WebAddress): Promise<WebText> {
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

  /** Reads from the stored copies from now on, and frees the temporary folder. */
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

/** Texts of the last good version, without the network. */
export class StoredTexts implements WebTexts {
  readonly knowsPlaces = false;
  private readonly last: LastGood;
  private readonly isSecret: boolean;
  private readonly files = new Map<string, WebText>();

  constructor(last: LastGood, isSecret: boolean) {
    this.last = last;
    this.isSecret = isSecret;
  }

  async get(address: WebAddress): Promise<WebText> {
    const known = this.files.get(address.id);
    if (known !== undefined) return known;
    const text = await this.last.store.textOf(this.last.record, address);
    if (text === undefined) {
      const shown = shownAddress(address.url, this.isSecret);
      throw sourceError("fetch-failed", `Failed to fetch ${shown}`, "its cached copy was removed");
    }
    this.files.set(address.id, text);
    return text;
  }

  close(): void {
    for (const text of this.files.values()) text.close();
    this.files.clear();
  }
}
