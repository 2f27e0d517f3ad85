import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";

/** Now, or SOURCE_DATE_EPOCH for a reproducible build (https://reproducible-builds.org/specs/source-date-epoch). */
export function buildTime(host: Host): Date {
  const epoch = host.env["SOURCE_DATE_EPOCH"];
  if (epoch === undefined || epoch === "") return host.now();
  if (/^\d{1,12}$/.test(epoch)) return new Date(Number(epoch) * 1000);
  const message = `SOURCE_DATE_EPOCH must be a number of seconds since 1970, not ${printable(epoch, 40)}`;
  throw new CompilerError([errorOf("environment-invalid", message)]);
}
