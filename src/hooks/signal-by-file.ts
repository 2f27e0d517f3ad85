import { decodeUtf8 } from "../bytes/utf8.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { HookFailure } from "./hook-failure.ts";
import type { HookSetting } from "./hook-setting.ts";

/** Sends a signal to the process that a PID file names, if it is the expected program. Rejects with a `HookFailure`. */
export async function signalByFile(
  file: string,
  { program, signal }: { readonly program: string; readonly signal: string },
  { host, folder }: HookSetting,
): Promise<string> {
  if (host.sendSignal === undefined) throw new HookFailure("this runtime cannot send signals");
  const text = await textOf(host.path.resolve(folder, file), host);
  if (text === undefined) throw new HookFailure(`${printable(file)} cannot be read`);
  const pid = /^\s*(?<pid>[1-9]\d{0,9})\s*$/.exec(text)?.groups?.["pid"];
  if (pid === undefined) throw new HookFailure(`${printable(file)} does not contain a PID`);
  // The file may be old, and the number belong to another process now.
  const name = await textOf(`/proc/${pid}/comm`, host);
  if (name !== undefined && name.trim() !== program)
    throw new HookFailure(`process ${pid} is not ${program}`);
  try {
    host.sendSignal(Number(pid), signal);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new HookFailure(`process ${pid}: ${error.code}`);
  }
  return "";
}

async function textOf(path: string, host: Host): Promise<string | undefined> {
  try {
    return decodeUtf8(await host.readFile(path));
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
