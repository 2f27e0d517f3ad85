import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { digestOfFile } from "../sources/source-store.ts";
import type { Manifest } from "./manifest.ts";
import { outputFailed } from "./output-failed.ts";

/** The newest release of a list that was found to be good. */
interface ReleaseState {
  readonly state: 1;
  readonly name: string;
  readonly version: number;
  /** Of the manifest. */
  readonly sha256: string;
}

/** Why a release must not follow the one that was good last; nothing when it may. There is no last one when there is no file. */
export async function stateProblems(
  path: string,
  manifestPath: string,
  { name, version }: Manifest,
  host: Host,
): Promise<Diagnostic[]> {
  const last = await readState(path, host);
  if (last === "none") return [];
  if (last === undefined) return [bad(`${printable(path)} is not a state file of verify`)];
  if (name !== last.name)
    return [bad(`The release is of ${printable(name, 80)}, not of ${printable(last.name, 80)}`)];
  if (version < last.version)
    return [bad(`Version ${version} is older than version ${last.version}, the last good version`)];
  const isOther =
    version === last.version && (await digestOfFile(manifestPath, host)) !== last.sha256;
  return isOther
    ? [bad(`Version ${version} differs from the release of the same version seen before`)]
    : [];
}

/** Remembers a release that is good. Rejects with a `CompilerError`. */
export async function rememberRelease(
  path: string,
  manifestPath: string,
  { name, version }: Manifest,
  host: Host,
): Promise<void> {
  const sha256 = (await digestOfFile(manifestPath, host)) ?? "";
  const state: ReleaseState = { state: 1, name, version, sha256 };
  const text = encodeUtf8(`${JSON.stringify(state)}\n`);
  try {
    await writeWhole(path, host, (file) => file.write(text));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

function bad(message: string): Diagnostic {
  return errorOf("manifest-mismatch", message);
}

/** Undefined when it is something else. */
async function readState(path: string, host: Host): Promise<ReleaseState | "none" | undefined> {
  try {
    const value = JSON.parse(decodeUtf8(await host.readFile(path))) as Partial<ReleaseState> | null;
    const isState =
      value?.state === 1 &&
      typeof value.name === "string" &&
      Number.isSafeInteger(value.version) &&
      typeof value.sha256 === "string";
    return isState ? (value as ReleaseState) : undefined;
  } catch (error) {
    return error instanceof HostError && error.code === "ENOENT" ? "none" : undefined;
  }
}
