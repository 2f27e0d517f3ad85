import { withOutputTarget } from "../../library/programs.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "./options.ts";

const CSV = /^.+\.csv(?:\.gz|\.zst)?$/i;

/** The options with the place and the format that `-o` means. Throws a `CompilerError` if a command other than `compile` would convert a list. */
export async function withPlacedOutput(
  options: Options,
  command: string,
  host: Host,
): Promise<Options> {
  const csv = command === "export" ? CSV.exec(options.output ?? "")?.[0] : undefined;
  if (csv !== undefined)
    throw new CompilerError([
      errorOf("wrong-usage", `-o is the list that export reads, not ${printable(csv, 80)}`, {
        hint: `Write the file without -o: rules-compiler export ${printable(csv, 80)}`,
      }),
    ]);
  const placed = await withOutputTarget(options, host);
  if (placed.to === undefined || command === "compile") return placed;
  const { output = "" } = options;
  const message = `${command} is for lists in adblock syntax; -o ${printable(output, 80)} is of another format`;
  const hint = "Only compile converts a list. Use the file of the list, such as -o list.txt";
  throw new CompilerError([errorOf("wrong-usage", message, { hint })]);
}
