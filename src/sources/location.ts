import { dirname, isAbsolute, join, resolve } from "node:path";

/** Where a list is: an address or an absolute path. */
export type Location =
  | {
      readonly kind: "web";
      readonly url: string;
      /** What it is called wherever it is; the address itself without it. */
      readonly id?: string;
    }
  | { readonly kind: "file"; readonly path: string };

/** `https://…`, `//…` or anything else with a scheme; the rest are paths. */
export function isAddress(source: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(source);
}

/** The places where a relative path is looked for, in order: beside the configuration, then in the working directory. */
export function candidatePaths(path: string, configFolder: string, cwd: string): string[] {
  if (isAbsolute(path)) return [path];
  return [...new Set([resolve(configFolder, path), resolve(cwd, path)])];
}

/** The path that an `!#include` of a local file names, before it is checked. */
export function includedPath(listPath: string, argument: string): string {
  return isAbsolute(argument) ? argument : join(dirname(listPath), argument);
}

/** Whether `path` lies in `folder` or below. */
export function isBelow(path: string, folder: string): boolean {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(prefix);
}
