import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { nearest } from "../../diagnostics/suggest.ts";

/** Parses a format name. Throws a `CompilerError` that lists the valid formats. */
export function formatOption<T extends string>(
  option: string,
  value: string,
  formats: readonly T[],
): T {
  if (formats.includes(value as T)) return value as T;
  const meant = nearest(value, formats);
  const hint = meant === undefined ? {} : { hint: `Did you mean ${meant}?` };
  const message = `${option} must be one of ${formats.join(", ")}`;
  throw new CompilerError([errorOf("unknown-flag", message, hint)]);
}
