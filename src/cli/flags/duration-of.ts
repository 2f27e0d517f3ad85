import { durationMs } from "../../config/duration.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Args } from "./args.ts";
import type { FlagName } from "./flags.ts";

const DEFAULT_WAIT = "30s";

/** Throws a `CompilerError` for anything but a duration or 0. */
export function durationOf(name: FlagName, text: string): number {
  const ms = text === "0" ? 0 : durationMs(text);
  if (ms !== undefined) return ms;
  throw new CompilerError([
    errorOf(
      "unknown-flag",
      `--${name} must be a duration such as 90s, 5m or 12h, not ${printable(text, 40)}`,
    ),
  ]);
}

/** How long a resolver may take to load a list. */
export function proofWait({ values }: Args): number {
  return durationOf("wait", values.get("wait")?.[0] ?? DEFAULT_WAIT);
}
