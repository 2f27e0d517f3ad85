import { type Diagnostic, warningOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import type { FlagName } from "./flags.ts";

/** From quiet to verbose. `news` has the ends of conditions, too. */
export const LEVELS = ["none", "error", "warning", "news", "info", "debug"] as const;
export type Level = (typeof LEVELS)[number];

const VARIABLE = "RULESCOMPILER_Logging__LogLevel__Default";
/** Log levels of the .NET compiler. */
const NAMED: Readonly<Record<string, Level>> = {
  Trace: "debug",
  Debug: "debug",
  Information: "info",
  Warning: "warning",
  Error: "error",
  Critical: "error",
  None: "none",
};

/** Flags take precedence over `DEBUG`, and `DEBUG` over the log level of the .NET compiler. */
export function levelOf(switches: ReadonlySet<FlagName>, env: Host["env"]): Level {
  if (switches.has("quiet")) return "news";
  if (switches.has("debug") || switches.has("verbose")) return "debug";
  if (/^true$/i.test(env["DEBUG"] ?? "")) return "debug";
  return namedLevel(env[VARIABLE] ?? "") ?? "info";
}

function namedLevel(value: string): Level | undefined {
  const name = Object.keys(NAMED).find((one) => one.toLowerCase() === value.toLowerCase());
  return name === undefined ? undefined : NAMED[name];
}

/** Variables with unknown values. Other programs use `DEBUG` too, so this is never an error. */
export function ignoredVariables(env: Host["env"]): Diagnostic[] {
  const ignored: Diagnostic[] = [];
  const debug = env["DEBUG"] ?? "";
  if (!/^(?:true|false|)$/i.test(debug))
    ignored.push(unknownValue("DEBUG", "true or false", debug, "Debug output needs DEBUG=true"));
  const level = env[VARIABLE] ?? "";
  const names = Object.keys(NAMED);
  const choice = `${names.slice(0, -1).join(", ")} or ${names.at(-1)!}`;
  if (level !== "" && namedLevel(level) === undefined)
    ignored.push(unknownValue(VARIABLE, choice, level, "Information is used instead"));
  return ignored;
}

function unknownValue(name: string, wanted: string, value: string, hint: string): Diagnostic {
  const message = `${name} must be ${wanted}, not ${printable(value, 40)}`;
  return warningOf("environment-ignored", message, { hint });
}
