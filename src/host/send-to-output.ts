import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "./host.ts";

/** Writes to standard output. Returns false if the reader has closed it (`| head`); other failures are errors. */
export async function sendToOutput(data: string | Uint8Array, host: Host): Promise<boolean> {
  try {
    await host.stdout.send(data);
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "EPIPE") return false;
    const cause = reasonOf(error.code, error.message);
    throw new CompilerError([
      errorOf("output-failed", "Cannot write to standard output", { cause }),
    ]);
  }
}
