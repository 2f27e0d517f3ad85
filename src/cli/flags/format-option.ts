import { FORMAT_NAMES, type FormatName } from "../../config/output-fields.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { nearest } from "../../diagnostics/suggest.ts";

/** Parses a format name. Throws a `CompilerError` that lists the valid formats. */
export function formatOption(option: string, value: string): FormatName {
  if (FORMAT_NAMES.includes(value as FormatName)) return value as FormatName;
  const meant = nearest(value, FORMAT_NAMES);
  const hint = meant === undefined ? {} : { hint: `Did you mean ${meant}?` };
  const message = `${option} must be one of ${FORMAT_NAMES.join(", ")}`;
  throw new CompilerError([errorOf("unknown-flag", message, hint)]);
}
