import { encodeUtf8 } from "../bytes/utf8.ts";
import { asciiLabels } from "./idna.ts";
import { Suffix, suffixIn } from "./public-suffix.ts";

/** A host in a text, and what it ends with. */
export interface HostName {
  /** In lower case, without a final dot. */
  readonly hostname: string;
  readonly isIp: boolean;
  /** The kind of its public suffix; `No` if the list does not have one. */
  readonly kind: Suffix;
  /** Whether it is nothing but a suffix. An unlisted suffix is the last label. */
  readonly isSuffix: boolean;
}

const LABEL = String.raw`(?!-)[a-z0-9_\-\u0080-\uffff]{1,63}(?<!-)`;
const HOST = new RegExp(String.raw`^\.?${LABEL}(?:\.${LABEL})*$`);
const LONGEST = 255;
/** Four numbers, in or out of range. */
const IPV4 = /^\d+(?:\.\d+){3}$/;
const IPV6 = /^(?=.*:)[0-9a-f:]{2,39}$/;

/** The parts of a URL around its host; all are optional. */
const AROUND_HOST =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|\/\/)?(?:[^/?#@]*@)?(?:\[([^\]/?#@]*)\]|([^/?#@:[\]]*))(?::\d*)?(?:[/?#].*)?$/;

/** Reads a text as a host, or as a URL with one; undefined if it has no valid host. */
export function readHost(text: string, withPrivate = false): HostName | undefined {
  const written = text.toLowerCase();
  const [, inBrackets, host] = IPV6.test(written)
    ? [undefined, written]
    : (AROUND_HOST.exec(written) ?? []);
  const hostname = inBrackets ?? host?.replace(/(?<=[^.])\.+$/, "") ?? "";
  if (IPV6.test(hostname) || IPV4.test(hostname))
    return { hostname, isIp: true, kind: Suffix.No, isSuffix: false };
  if (hostname.length > LONGEST || !HOST.test(hostname)) return undefined;
  const { bytes, start, kind } = suffixOf(hostname, withPrivate);
  const isSuffix = start === 0 && bytes.length > 0;
  return { hostname, isIp: false, kind, isSuffix };
}

/** The public suffix of a name and one label more, also below shared hosts such as `github.io`; undefined without such a label. */
export function registrableDomain(name: string): string | undefined {
  const { bytes, start } = suffixOf(name.toLowerCase(), true);
  if (start < 2 || bytes.length !== name.length) return undefined;
  return name.slice(name.lastIndexOf(".", start - 2) + 1);
}

function suffixOf(
  name: string,
  withPrivate: boolean,
): { bytes: Uint8Array; start: number; kind: Suffix } {
  const bytes = encodeUtf8(asciiLabels(name));
  return { bytes, ...suffixIn(bytes, withPrivate) };
}
