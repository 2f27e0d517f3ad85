import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import type { StoredFile } from "../sources/source-store.ts";

/** The files that sources must consist of. */
export interface SourceLock {
  /** The name of the lockfile, for messages. */
  readonly name: string;
  /** By the source as the configuration names it. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** Whether a source that is not among them is an error; otherwise it may be anything. */
  readonly isComplete: boolean;
}

/** The files that a source must consist of; undefined when it may be anything. Throws a `CompilerError`. */
export function lockedFiles(
  lock: SourceLock | undefined,
  { source, isSecret }: { readonly source: string; readonly isSecret: boolean },
): readonly StoredFile[] | undefined {
  const files = lock?.files.get(source);
  if (files !== undefined || lock?.isComplete !== true) return files;
  const shown = printable(withoutCredentials(source, isSecret));
  throw new CompilerError([errorOf("lock-mismatch", `${shown} is not in ${lock.name}`)]);
}
