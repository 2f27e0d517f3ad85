import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { feedFormats } from "../feeds/registry.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import type { Host } from "../host/host.ts";
import { type RequestHeaders, readRequestHeaders } from "../sources/request-headers.ts";
import type { LoadOptions } from "../sources/source-list.ts";
import type { PlannedSource } from "./plan.ts";
import type { FileRole } from "./source-key.ts";

/** The options for obtaining a source. */
export type SourceOptions = Pick<
  PlannedSource,
  | "source"
  | "label"
  | "shown"
  | "isSecret"
  | "type"
  | "feed"
  | "mirrors"
  | "isRequired"
  | "maxStaleMs"
  | "timeoutMs"
  | "maxBytes"
  | "member"
  | "keyFiles"
  | "signers"
  | "allowPrivate"
  | "bounds"
  | "checksCount"
  | "mayBlock"
> & {
  /** For a file of names. */
  readonly role?: FileRole | undefined;
};

/** How the text of a source is read. */
export function readingOf({ type, feed, isSecret, member }: SourceOptions): LoadOptions {
  const isJson = feed === undefined ? type === "json" : feedFormats.get(feed.type)!.isJson === true;
  return { json: isJson, feed, isSecret, member };
}

/** Whether each line of a source has a meaning of its own, and is a rule. */
export function hasPlainLines({ type, feed, member, role }: SourceOptions): boolean {
  const isTranslated = feed !== undefined || type === "json" || foreignFormats.has(type);
  return !isTranslated && member === undefined && role === undefined;
}

/** The headers with keys for the requests of a source. Rejects with a `CompilerError`. */
export async function keysOf(
  url: string,
  { keyFiles }: SourceOptions,
  { folder, host }: { readonly folder: string; readonly host: Host },
  warn: (warning: Diagnostic) => void,
): Promise<RequestHeaders | undefined> {
  const inFolder = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : host.path.resolve(folder, file);
  const { headers, bearer, basic } = keyFiles;
  const files = { headers: inFolder(headers), bearer: inFolder(bearer), basic: inFolder(basic) };
  return await readRequestHeaders(url, files, host, warn);
}
