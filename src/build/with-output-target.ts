import { NOWHERE, outputTarget } from "../publish/output-target.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";

/**
 * Normalizes `-o`: `-` for any path to standard output, `/dev/null` for any path to it, and a trailing slash for a folder, in
 * which the file gets the name of the list. Rejects with a `CompilerError` for other special files.
 */
export async function withOutputTarget<T extends { readonly output: string | undefined }>(
  options: T,
  host: Host,
): Promise<T> {
  const { output } = options;
  if (output === undefined || output === "-") return options;
  if (isFolderName(output, host)) return options;
  const target = await outputTarget(host.path.resolve(host.cwd, output), host);
  if (target === "file") return options;
  if (target === "folder") return { ...options, output: `${output}/` };
  if (target === "stdout") return { ...options, output: "-" };
  if (target === "nowhere") return { ...options, output: NOWHERE };
  throw new CompilerError([
    errorOf("output-failed", `Cannot write ${printable(output)}: not a regular file`, {
      hint: "Use -o with a file or folder, or -o - for standard output",
    }),
  ]);
}

export function isFolderName(output: string, host: Pick<Host, "path">): boolean {
  return output.endsWith("/") || output.endsWith(host.path.sep);
}
