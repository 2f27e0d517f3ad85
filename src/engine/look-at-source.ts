import { withoutCredentials } from "../diagnostics/printable.ts";
import type { SourceState } from "../sources/source-state.ts";
import { FETCH_DEFAULTS } from "./compile-options.ts";
import type { SourceOptions } from "./source-options.ts";
import type { SourceReader } from "./source-reader.ts";

/** Shows the text of a source without compiling it. Rejects with a `CompilerError` if neither it nor a copy is readable. */
export async function lookAtSource(
  reader: SourceReader,
  wish: Pick<SourceOptions, "source"> & Partial<SourceOptions>,
  see: (text: Uint8Array) => void,
): Promise<SourceState> {
  const shown = withoutCredentials(wish.source);
  const { list, state } = await reader.open({ ...FETCH_DEFAULTS, shown, label: shown, ...wish });
  try {
    await list.check();
    await list.peek(see);
    return state;
  } finally {
    list.close();
  }
}
