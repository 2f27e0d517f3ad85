import type { Host } from "../host/host.ts";

/** Where a list is: an address or an absolute path. */
export type Location =
  | {
      readonly kind: "web";
      readonly url: string;
      /** Its name, wherever it is fetched from; the address itself by default. */
      readonly id?: string;
    }
  | { readonly kind: "file"; readonly path: string };

/** `https://…`, `//…` or anything else with a scheme; the rest are paths. */
export function isAddress(source: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(source);
}

/** Whether an address can be fetched: `http` or `https`, with a host. */
export function isFetchable(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

/** The paths to try for a source, in order: beside the configuration, then in the working directory. */
export function candidatePaths(
  source: string,
  configFolder: string,
  { cwd, path }: Host,
): string[] {
  if (path.isAbsolute(source)) return [source];
  return [...new Set([path.resolve(configFolder, source), path.resolve(cwd, source)])];
}

/** The path that an `!#include` of a local file names, before it is checked. */
export function includedPath(listPath: string, argument: string, { path }: Host): string {
  return path.isAbsolute(argument) ? argument : path.join(path.dirname(listPath), argument);
}

/** Whether a file is in `folder` or below it. */
export function isBelow(file: string, folder: string, { path }: Host): boolean {
  const from = path.relative(folder, file);
  return (
    from !== "" && from !== ".." && !from.startsWith(`..${path.sep}`) && !path.isAbsolute(from)
  );
}
