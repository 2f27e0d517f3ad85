import type { SharedList } from "./calls.ts";

/**
 * The page as a link: the configuration and short lists, compressed, in the part of an address that no server receives. A link may
 * come from anyone, so that everything in it is limited and checked.
 */

/** What a link carries. */
export interface Shared {
  readonly config: string;
  /** Whether somebody wrote the configuration; otherwise it is the one for all lists. */
  readonly isOwn: boolean;
  readonly lists: readonly SharedList[];
}

/** The first characters of every link, with the version of its form. */
const BEGIN = "#1.";
/** Messengers and mail programs break longer addresses. */
const MOST_WRITTEN = 16_000;
const MOST_READ = 32_000;
/** A link of a few characters can stand for any length. */
export const MOST_TEXT = 1_000_000;
const MOST_LISTS = 50;
/** A file name without folders. */
const NAME = /^(?!\.)[^/\\\p{Control}]{1,100}$/u;

/** A link that cannot be opened; the message says why. */
export class LinkError extends Error {}

/** Whether the address of the page is meant to be a link. */
export function isLink(hash: string): boolean {
  return hash.length > 1;
}

/** The link for a page; undefined if it would be too long. */
export async function linkFor(shared: Shared): Promise<string | undefined> {
  const text = new TextEncoder().encode(JSON.stringify(shared));
  if (text.length > MOST_TEXT) return undefined;
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const link = BEGIN + base64Url(bytes);
  return link.length > MOST_WRITTEN ? undefined : link;
}

/** What a link carries. Rejects with a `LinkError`. */
export async function readLink(hash: string): Promise<Shared> {
  if (!hash.startsWith(BEGIN)) throw new LinkError("It is not a link of this page.");
  if (hash.length > MOST_READ) throw new LinkError("It is longer than any link of this page.");
  const value = await contentOf(hash.slice(BEGIN.length));
  if (!isShared(value)) throw new LinkError("It is damaged.");
  return value;
}

async function contentOf(code: string): Promise<unknown> {
  try {
    const bytes = bytesOf(code);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await textOf(stream.getReader()));
  } catch (error) {
    throw error instanceof LinkError ? error : new LinkError("It is damaged.");
  }
}

/** The text of a stream, which is not read beyond the limit. */
async function textOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > MOST_TEXT) {
      await reader.cancel();
      throw new LinkError("It holds more than a link may hold.");
    }
    text += decoder.decode(value, { stream: true });
  }
}

function isShared(value: unknown): value is Shared {
  if (typeof value !== "object" || value === null) return false;
  const { config, isOwn, lists } = value as Partial<Record<keyof Shared, unknown>>;
  if (typeof config !== "string" || typeof isOwn !== "boolean") return false;
  if (!Array.isArray(lists) || lists.length > MOST_LISTS) return false;
  return lists.every(
    (one) =>
      Array.isArray(one) &&
      one.length === 2 &&
      typeof one[0] === "string" &&
      NAME.test(one[0]) &&
      typeof one[1] === "string",
  );
}

function base64Url(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(code: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(code)) throw new LinkError("It is damaged.");
  const characters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
