import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError, type Scratch } from "../host/host.ts";

/** A scratch file whose errors mention its purpose. */
export function scratchOf(host: Host): Scratch {
  const scratch = attempt(() => host.openScratch());
  return {
    append: (bytes) => attempt(() => scratch.append(bytes)),
    rewrite: (position, bytes) => attempt(() => scratch.rewrite(position, bytes)),
    read: (position, into) => attempt(() => scratch.read(position, into)),
    close: () => attempt(() => scratch.close()),
  };
}

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("scratch-failed", "Cannot write to the temporary folder", {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
