import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import type { OutputPlan } from "./output-plan.ts";
import { primarySerial } from "./primary-serial.ts";
import { readStart } from "./read-start.ts";

/** There may be many comments above the SOA record. */
const HEADER_BYTES = 65_536;
const HALF = 0x8000_0000;
/** How many bytes of a zone file may need a serial of their own at most: a quarter of the records changes, and a message has 60,000 bytes. */
const BYTES_PER_STEP = 80_000;

/**
 * The serial of a zone file: the Unix time in seconds if it is later than the serials of the existing file and of the
 * primary, else a few more than the later of these. State may be lost or restored, clocks may be wrong, and serials wrap around (RFC
 * 1982); they never go back. A file that differs only in the serial is not written, so the serial changes only with the rules.
 */
export async function nextSerial(plan: OutputPlan, moment: Date, host: Host): Promise<number> {
  const { path, updates, options } = plan;
  const seconds = Math.floor(moment.getTime() / 1000) >>> 0;
  const known = [await lastSerial(path, host)];
  if (updates !== undefined) known.push(await primarySerial(updates, options.origin, host));
  const last = known.filter((serial) => serial !== undefined).reduce(later, undefined);
  if (last === undefined) return seconds === 0 ? 1 : seconds;
  // Every message of a script for the primary needs a serial of its own.
  const size = updates === undefined ? 0 : ((await ifAvailable(() => host.sizeOf(path))) ?? 0);
  const step = 1 + Math.ceil(size / BYTES_PER_STEP);
  const ahead = (seconds - last) >>> 0;
  const next = ahead >= step && ahead < HALF ? seconds : (last + step) >>> 0;
  return next === 0 ? 1 : next;
}

function later(one: number | undefined, other: number): number {
  return one === undefined || isLater(other, one) ? other : one;
}

/** Whether a serial is later than another, in the arithmetic of RFC 1982. */
function isLater(serial: number, other: number): boolean {
  const ahead = (serial - other) >>> 0;
  return ahead > 0 && ahead < HALF;
}

async function lastSerial(path: string, host: Host): Promise<number | undefined> {
  const text = decodeUtf8((await readStart(path, HEADER_BYTES, host)) ?? new Uint8Array(0));
  const serial = /^@ SOA \S+ \S+ (?<serial>\d{1,10}) /m.exec(text)?.groups?.["serial"];
  return serial === undefined ? undefined : Number(serial) >>> 0;
}
