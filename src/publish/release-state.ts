import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { digestOfFile } from "../sources/source-store.ts";
import { type Manifest, mismatch } from "./manifest.ts";
import { outputFailed } from "./output-failed.ts";

/** The newest verified release of a list. */
interface ReleaseState {
  readonly state: 1;
  readonly name: string;
  readonly version: number;
  /** Digest of the manifest. */
  readonly sha256: string;
}

/** Why a release must not follow the last verified one; empty if it may, or if no release was verified. */
export async function releaseStateProblems(
  path: string,
  manifestPath: string,
  { name, version }: Manifest,
  host: Host,
): Promise<Diagnostic[]> {
  const last = await readState(path, host);
  if (last === "none") return [];
  if (last === undefined)
    return [mismatch(`${printable(path)} is not a state file written by verify`)];
  if (name !== last.name)
    return [
      mismatch(`The release is of ${printable(name, 80)}, not of ${printable(last.name, 80)}`),
    ];
  if (version < last.version)
    return [
      mismatch(
        `Version ${version} is older than version ${last.version}, which was verified before`,
      ),
    ];
  const isOther =
    version === last.version && (await digestOfFile(manifestPath, host)) !== last.sha256;
  return isOther
    ? [mismatch(`The release differs from the one of version ${version} that was verified before`)]
    : [];
}

/** Saves a verified release. Rejects with a `CompilerError`. */
export async function writeReleaseState(
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

/** Undefined if the file is invalid. */
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
