import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { readStart } from "./read-start.ts";

/** There may be many comments above the SOA record. */
const HEADER_BYTES = 65_536;
const LARGEST = 0xffff_ffff;

/**
 * The serial of a zone file: the Unix time in seconds, or `step` more than the serial of the existing file, if that is
 * larger. A
 * file that differs only in the serial is not written, so the serial changes only with the rules.
 */
export async function nextSerial(
  path: string,
  moment: Date,
  host: Host,
  step = 1,
): Promise<number> {
  const seconds = Math.floor(moment.getTime() / 1000);
  const last = await lastSerial(path, host);
  const next = last === undefined ? seconds : Math.max(seconds, last + step);
  // Serials wrap around (RFC 1982).
  return next > LARGEST ? step : next;
}

async function lastSerial(path: string, host: Host): Promise<number | undefined> {
  const text = decodeUtf8((await readStart(path, HEADER_BYTES, host)) ?? new Uint8Array(0));
  const serial = /^@ SOA \S+ \S+ (?<serial>\d+) /m.exec(text)?.groups?.["serial"];
  return serial === undefined ? undefined : Number(serial);
}
