import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";

/** The diagnostic with the name of its list, for runs with several lists. */
export function withList(diagnostic: Diagnostic, list: string): Diagnostic {
  return { ...diagnostic, message: `${printable(list)}: ${diagnostic.message}` };
}
