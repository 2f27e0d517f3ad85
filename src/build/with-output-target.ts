import { NOWHERE, outputTarget } from "../publish/output-target.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import type { ProjectOptions } from "./build-options.ts";

type Places = Pick<ProjectOptions, "output" | "copyToRules" | "rulesDir">;

/**
 * Normalizes `-o`: `-` for any path to standard output, `/dev/null` for any path to it, and a trailing slash for a folder, which
 * replaces the rules directory. Rejects with a `CompilerError` for other special files.
 */
export async function withOutputTarget<T extends Places>(options: T, host: Host): Promise<T> {
  const { output } = options;
  if (output === undefined || output === "-") return options;
  if (isFolderName(output, host)) return inFolder(output, options);
  const target = await outputTarget(host.path.resolve(host.cwd, output), host);
  if (target === "file") return options;
  if (target === "folder") return inFolder(`${output}/`, options);
  if (target === "stdout") return { ...options, output: "-" };
  if (target === "nowhere") return { ...options, output: NOWHERE };
  throw new CompilerError([
    errorOf("output-failed", `Cannot write ${printable(output)}: not a regular file`, {
      hint: "Use -o with a file or folder, or -o - for standard output",
    }),
  ]);
}

function inFolder<T extends Places>(folder: string, options: T): T {
  const { copyToRules, rulesDir } = options;
  return { ...options, output: folder, rulesDir: copyToRules ? rulesDir : folder };
}

/** Whether only the list is written: to the file of `-o`, or to standard output. */
export function isListAlone({ output, copyToRules }: Places, host: Pick<Host, "path">): boolean {
  return output !== undefined && !copyToRules && !isFolderName(output, host);
}

export function isFolderName(output: string, host: Pick<Host, "path">): boolean {
  return output.endsWith("/") || output.endsWith(host.path.sep);
}
