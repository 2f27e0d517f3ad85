import { printable } from "../../diagnostics/printable.ts";

/** Text of strangers for a page of Markdown: it is read as it is. */
export function markdownText(text: string): string {
  return printable(text).replace(/[|<>&[\]*_`\\]/g, (one) => `\\${one}`);
}
