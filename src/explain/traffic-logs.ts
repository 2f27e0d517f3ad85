import type { Host } from "../host/host.ts";
import { TrafficReader } from "../traffic/traffic-reader.ts";

/** The logs that a user named, to be read once for all lists; undefined without any. */
export function trafficLogs(
  files: readonly string[],
  host: Host,
  byClient = false,
): TrafficReader | undefined {
  return files.length === 0 ? undefined : new TrafficReader(files, host, { byClient });
}
