import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import type { CompileOptions } from "./compile-options.ts";
import type { InputFile } from "../sources/source-list.ts";
import { type Location, candidatePaths, isAddress } from "../sources/location.ts";
import { shownAddress, sourceError } from "../sources/source-error.ts";

/** Resolves a source of the configuration to a path or address. Adds a note if a path was found elsewhere. */
async function locate(
  source: string,
  configFolder: string,
  host: Host,
  { diagnostics, inputs }: { readonly diagnostics: Diagnostic[]; readonly inputs: InputFile[] },
): Promise<Location> {
  if (/^file:/i.test(source))
    throw sourceError(
      "source-not-found",
      `Failed to fetch ${shownAddress(source)}`,
      "file: URLs are not read; write the path",
    );
  if (isAddress(source)) return { kind: "web", url: source };
  const [beside, elsewhere] = candidatePaths(source, configFolder, host);
  if (elsewhere === undefined || (await host.exists(beside!)))
    return { kind: "file", path: beside! };
  if (!(await host.exists(elsewhere))) return { kind: "file", path: beside! };
  // If this file appears later, it takes precedence.
  inputs.push({ path: beside!, stamp: undefined });
  diagnostics.push({
    ...warningOf(
      "found-beside-working-directory",
      `${printable(source)} was found in the working directory, not next to the configuration`,
    ),
    severity: "note",
  });
  return { kind: "file", path: elsewhere };
}

/** The same, looked up once for all lists of a run. */
export async function locateOnce(
  source: string,
  host: Host,
  { shared, configFolder }: Pick<CompileOptions, "shared" | "configFolder">,
  notes: { readonly diagnostics: Diagnostic[]; readonly inputs: InputFile[] },
): Promise<Location> {
  let found = shared?.located.get(source);
  if (found === undefined) {
    const own = { diagnostics: [], inputs: [] };
    const location = await locate(source, configFolder ?? host.cwd, host, own);
    found = { location, ...own };
    shared?.located.set(source, found);
  }
  notes.diagnostics.push(...found.diagnostics);
  notes.inputs.push(...found.inputs);
  return found.location;
}
