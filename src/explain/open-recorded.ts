import type { Host, OpenFile } from "../host/host.ts";
import type { RecordedFile } from "../record/record-format.ts";

/**
 * Opens a file that a list was made from, or the copy that is kept of it. Undefined when it has changed since, or no copy is
 * kept. Rejects with a `HostError`.
 */
export async function openRecorded(
  { path, stamp, sha256 }: RecordedFile,
  cacheDir: string | undefined,
  host: Host,
): Promise<OpenFile | undefined> {
  if (path === undefined && (sha256 === undefined || cacheDir === undefined)) return undefined;
  const file = await host.openFile(path ?? host.path.join(cacheDir!, "objects", sha256!));
  if (path === undefined || file.stamp.text === stamp) return file;
  await file.close();
  return undefined;
}
