import { decodeUtf8 } from "../bytes/utf8.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { Secret } from "../host/secret.ts";
import { HookFailure } from "./hook-failure.ts";

/** Reads a secret: one line of visible ASCII characters. Rejects with a `HookFailure` that does not repeat it. */
export async function readSecret(file: string, folder: string, host: Host): Promise<Secret> {
  let text: string;
  try {
    text = decodeUtf8(await host.readFile(host.path.resolve(folder, file)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new HookFailure(`${printable(file)} cannot be read: ${error.code}`);
  }
  const line = text.replace(/\r?\n$/, "");
  if (/^[\x21-\x7e]{1,4096}$/.test(line)) return new Secret(line);
  throw new HookFailure(`${printable(file)} must contain one line without spaces`);
}
