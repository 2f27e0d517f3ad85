import { feedFormats } from "../feeds/registry.ts";
import type { LoadOptions } from "../sources/source-list.ts";
import type { PlannedSource } from "./plan.ts";

/** The options for obtaining a source. */
export type SourceOptions = Pick<
  PlannedSource,
  | "source"
  | "shown"
  | "isSecret"
  | "type"
  | "feed"
  | "mirrors"
  | "isOptional"
  | "maxStaleMs"
  | "timeoutMs"
  | "allowPrivate"
  | "bounds"
  | "mayBlock"
>;

/** How the text of a source is read. */
export function readingOf({ type, feed, isSecret }: SourceOptions): LoadOptions {
  const isJson = feed === undefined ? type === "json" : feedFormats.get(feed.type)!.isJson === true;
  return { json: isJson, feed, isSecret };
}

export function storeKeyOf(url: string, { feed }: SourceOptions): string {
  return feed === undefined ? url : `${url} ${JSON.stringify(feed)}`;
}
