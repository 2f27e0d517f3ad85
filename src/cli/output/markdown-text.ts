import { printable } from "../../diagnostics/printable.ts";

/** Escapes untrusted text for Markdown. */
export function markdownText(text: string): string {
  return printable(text).replace(/[|<>&[\]*_`\\]/g, (one) => `\\${one}`);
}
