import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";
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
  const last = await new StateFile(path, isState, host, Infinity).look();
  if (last === "missing") return [];
  if (last === "damaged")
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
  try {
    await new StateFile(path, isState, host, Infinity).write({ state: 1, name, version, sha256 });
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

function isState(value: unknown): value is ReleaseState {
  const { state, name, version, sha256 } = (value ?? {}) as Partial<ReleaseState>;
  return (
    state === 1 &&
    typeof name === "string" &&
    Number.isSafeInteger(version) &&
    typeof sha256 === "string"
  );
}
