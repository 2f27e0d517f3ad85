import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { Journal, type JournalEnd } from "../publish/journal.ts";
import { NamedFiles, type ReleaseNames } from "../publish/named-files.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { BuildContext } from "./build-context.ts";
import { refusePlaces } from "./refuse-places.ts";

type Context = Pick<BuildContext, "options" | "host" | "emit">;

/**
 * Completes or undoes what a killed run left of a release: its journal, then its temporary files. The caller holds the lock of the
 * list. Only files are touched that the configuration names now, and that it may write. Rejects with a `HostError`.
 */
export async function finishPublish(names: ReleaseNames, context: Context): Promise<void> {
  const { host } = context;
  const [list] = names.files;
  if (list === undefined) return;
  const named = new NamedFiles(names, host);
  const root = host.path.resolve(host.cwd, context.options.rulesDir);
  await finishJournal(list, root, (path) => named.has(path), context);
  await named.removeLeftovers();
}

/** Completes or undoes an unfinished set of files, and says so. `home` is its first file. */
export async function finishJournal(
  { name, path: home }: OutputFile,
  root: string,
  isNamed: (path: string) => boolean,
  { options, host, emit }: Context,
): Promise<void> {
  const end = await new Journal(home, root, host).finish(
    async (path) => isNamed(path) && (await mayWrite(path, options, host)),
  );
  if (end !== undefined) emit({ kind: "diagnostic", diagnostic: endNote(name, end) });
}

async function mayWrite(path: string, options: Context["options"], host: Host): Promise<boolean> {
  try {
    await refusePlaces([{ name: path, path }], options, host);
    return true;
  } catch (error) {
    if (error instanceof CompilerError) return false;
    throw error;
  }
}

function endNote(name: string, end: JournalEnd): Diagnostic {
  const what = `The last publish of ${printable(name)} was interrupted`;
  if (end === "left")
    return warningOf("publish-unfinished", `${what}; its files may be of two builds`);
  const message = `${what}; it is now ${end}`;
  return { code: "publish-unfinished", severity: "note", message };
}
