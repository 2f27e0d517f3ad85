import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { type Manifest, verifyManifest } from "../publish/manifest.ts";
import { releaseStateProblems, writeReleaseState } from "../publish/release-state.ts";

/** The requirements for a release. */
export interface ExpectedRelease {
  /** The minisign public key of its signature. */
  readonly key: string | undefined;
  /** The name of its list. */
  readonly name: string | undefined;
  /** The file with the last verified release, which must not be newer. Updated if there are no problems. */
  readonly state: string | undefined;
}

/** Verifies a release: signature, expiry, digest of every file, name of the list, and that it is not older than the last one. */
export async function verifyRelease(
  path: string,
  { key, name, state }: ExpectedRelease,
  host: Host,
): Promise<{ readonly manifest: Manifest | undefined; readonly problems: readonly Diagnostic[] }> {
  const { manifest, problems } = await verifyManifest(path, key, host);
  if (manifest === undefined) return { manifest, problems };
  if (name !== undefined && manifest.name !== name)
    problems.push(
      errorOf(
        "manifest-mismatch",
        `The release is of ${printable(manifest.name, 80)}, not of ${printable(name, 80)}`,
      ),
    );
  if (state === undefined) return { manifest, problems };
  problems.push(...(await releaseStateProblems(state, path, manifest, host)));
  if (problems.length === 0) await writeReleaseState(state, path, manifest, host);
  return { manifest, problems };
}
