import { resolve, sep } from "node:path";
import { NOWHERE, outputTarget } from "../publish/output-target.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";

/**
 * What `-o` means: `-` for whatever leads to standard output, `/dev/null` for what leads there, a path with a slash at its end
 * for a folder, which gets a file by the name of the list. Rejects with a `CompilerError` for what is none of these.
 */
export async function withOutputPlace<T extends { readonly output: string | undefined }>(
  options: T,
  host: Host,
): Promise<T> {
  const { output } = options;
  if (output === undefined || output === "-") return options;
  if (isFolderName(output)) return options;
  const target = await outputTarget(resolve(host.cwd, output), host);
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

export function isFolderName(output: string): boolean {
  return output.endsWith("/") || output.endsWith(sep);
}
