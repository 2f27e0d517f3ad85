import { decodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";

/** The comments above the SOA may be many. */
const HEADER_BYTES = 65_536;
const LARGEST = 0xffff_ffff;

/**
 * The serial for a zone file: the moment in seconds, which every list that is made later exceeds, or one more than the file
 * that is there has, if its clock was ahead. A file that comes out the same but for this is not written, so the serial
 * stays as long as the rules do.
 */
export async function nextSerial(path: string, moment: Date, host: Host): Promise<number> {
  const seconds = Math.floor(moment.getTime() / 1000);
  const last = await lastSerial(path, host);
  const next = last === undefined ? seconds : Math.max(seconds, last + 1);
  // Serials are compared in a circle (RFC 1982): after the largest comes one.
  return next > LARGEST ? 1 : next;
}

async function lastSerial(path: string, host: Host): Promise<number | undefined> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    const bytes = new Uint8Array(HEADER_BYTES);
    const count = await file.read(bytes);
    const text = decodeUtf8(bytes, 0, count);
    const serial = /^@ SOA \S+ \S+ (?<serial>\d+) /m.exec(text)?.groups?.["serial"];
    return serial === undefined ? undefined : Number(serial);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}
