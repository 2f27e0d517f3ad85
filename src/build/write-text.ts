import { encodeUtf8 } from "../bytes/utf8.ts";
import { outputFailed } from "../publish/output-failed.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";

/** Writes a file of the user's, whole or not at all. Rejects with a `CompilerError`. */
export async function writeText(path: string, text: string, host: Host): Promise<void> {
  try {
    // A link stays one, and what only its owner may read stays so.
    const real = await host.realPath(path).catch(() => path);
    await writeWhole(real, host, (file) => file.write(encodeUtf8(text)));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}
