import { encodeUtf8 } from "../bytes/utf8.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type ProgramEnd } from "../host/host.ts";
import { HookFailure } from "./hook-failure.ts";
import { type HookMessage, variablesOf } from "./hook-message.ts";
import type { HookSetting } from "./hook-setting.ts";

/** Variables that a program gets from our environment. Others may be secrets. */
const PASSED = [
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "XDG_RUNTIME_DIR",
  "SYSTEMROOT",
  "SystemRoot",
  "PATHEXT",
];
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Characters of the output that are shown. */
const MOST_SHOWN = 600;

/** Runs a program to its end and returns what it printed, safe to show. Rejects with a `HookFailure`. */
export async function runHookProgram(
  words: readonly string[],
  message: HookMessage | undefined,
  { host, folder, timeoutMs, signal }: HookSetting,
): Promise<string> {
  if (host.runProgram === undefined)
    throw new HookFailure("this runtime cannot start other programs");
  let end: ProgramEnd;
  try {
    end = await host.runProgram({
      words,
      folder,
      env: { ...environmentOf(host), ...(message && variablesOf(message)) },
      input: message === undefined ? "" : `${JSON.stringify(message)}\n`,
      timeoutMs,
      signal,
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const what = error.code === "ENOENT" ? "the program does not exist" : error.code;
    throw new HookFailure(`${printable(words[0] ?? "", 80)}: ${what}`);
  }
  const output = outputText(end);
  const printed = output === "" ? "" : `; it printed: ${output}`;
  if (end.isLate) throw new HookFailure(`ended after ${timeoutMs / 1000} s${printed}`);
  if (end.exit === 0) return output;
  const how = end.exit === undefined ? "a signal ended it" : `exit code ${end.exit}`;
  throw new HookFailure(`${how}${printed}`);
}

function environmentOf(host: Host): Record<string, string> {
  const { env, path } = host;
  // A relative folder in PATH would make the program depend on the working directory.
  const folders = (env["PATH"] ?? env["Path"] ?? DEFAULT_PATH)
    .split(path.delimiter)
    .filter((one) => path.isAbsolute(one));
  const known: Record<string, string> = { PATH: folders.join(path.delimiter) };
  for (const name of PASSED) {
    const value = env[name];
    if (value !== undefined) known[name] = value;
  }
  return known;
}

/** The end of the output in one line. */
function outputText({ output, bytes }: ProgramEnd): string {
  const lines = output
    .split(/\r?\n/)
    .map((line) => printable(line.trimEnd(), MOST_SHOWN))
    .filter((line) => line !== "");
  const text = lines.join(" / ");
  if (text.length <= MOST_SHOWN && encodeUtf8(output).length >= bytes) return text;
  return `… ${text.slice(-MOST_SHOWN)} (the end of ${bytes} bytes)`;
}
