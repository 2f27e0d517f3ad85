import { encodeUtf8 } from "../bytes/utf8.ts";
import { outputFailed } from "../publish/output-failed.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";

/** Writes a user's file atomically. Rejects with a `CompilerError`. */
export async function writeText(path: string, text: string, host: Host): Promise<void> {
  try {
    // Keeps symbolic links and file permissions.
    const real = await host.realPath(path).catch(() => path);
    await writeWhole(real, host, (file) => file.write(encodeUtf8(text)));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}
