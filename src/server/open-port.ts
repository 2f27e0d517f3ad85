import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import {
  type Answerer,
  type Host,
  HostError,
  type ListenAddress,
  type Listening,
} from "../host/host.ts";

/** Listens. Rejects with a `CompilerError` if the address is in use or not available. */
export async function openPort(
  listenOn: ListenAddress,
  host: Host,
  answer: Answerer,
): Promise<Listening> {
  try {
    return await host.listen!(listenOn, answer);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const where = `${printable(listenOn.address, 80)} port ${listenOn.port}`;
    throw new CompilerError([
      errorOf("listen-failed", `Cannot listen on ${where}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
