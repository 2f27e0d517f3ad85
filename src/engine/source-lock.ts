import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import type { StoredFile } from "../sources/source-store.ts";
import { storeKeyOf } from "./source-key.ts";
import type { SourceOptions } from "./source-options.ts";

/** The files that sources must consist of. */
export interface SourceLock {
  /** The name of the lockfile, for messages. */
  readonly name: string;
  /** By `storeKeyOf` the source as written in the configuration. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** Whether a source without an entry is an error; otherwise it may have any content. */
  readonly isComplete: boolean;
}

/** The files that a source must consist of; undefined if any content is allowed. Throws a `CompilerError`. */
export function lockedFiles(
  lock: SourceLock | undefined,
  wish: SourceOptions,
): readonly StoredFile[] | undefined {
  const { source, isSecret } = wish;
  // What a source keeps is not from its server.
  const files = lock?.files.get(storeKeyOf(source, wish))?.filter(({ role }) => role === undefined);
  if (files !== undefined || lock?.isComplete !== true) return files;
  const shown = printable(withoutCredentials(source, isSecret));
  throw new CompilerError([errorOf("lock-mismatch", `${shown} is not in ${lock.name}`)]);
}
