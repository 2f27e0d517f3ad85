import { toUnicode } from "tr46";

/** As much of `node:url` as the engine uses. */
export function domainToUnicode(name: string): string {
  return toUnicode(name).domain;
}
