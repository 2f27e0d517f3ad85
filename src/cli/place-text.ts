import { printable } from "../diagnostics/printable.ts";
import type { LinePlace } from "../explain/why.ts";

/** `source:line`; what no source has is there for the allow-list, and has no line. */
export function placeText({ source, line }: LinePlace, most = 60): string {
  const shown = printable(source, most);
  return line === 0 ? shown : `${shown}:${line}`;
}
