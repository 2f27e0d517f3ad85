import { DnsmasqLines } from "./dnsmasq-lines.ts";
import type { ForeignFormat } from "./foreign-reader.ts";
import { JsonEntries } from "./json-entries.ts";
import { LineByLine, type LineMeaning, eachLine } from "./line-by-line.ts";
import { RpzLines } from "./rpz-lines.ts";
import {
  blockyLine,
  dnscryptLine,
  exact,
  mihomoLine,
  rbldnsdLine,
  prefixedNames,
  subtree,
} from "./prefixed-names.ts";
import { SingBoxNames } from "./sing-box-names.ts";
import { smartdnsLine } from "./smartdns-line.ts";
import { unboundLine } from "./unbound-line.ts";

function named(meaning: LineMeaning, commentStart?: RegExp): ForeignFormat {
  return { open: () => eachLine(meaning, commentStart), hasWholeNames: true };
}

function nested(format: ForeignFormat): ForeignFormat {
  return { ...format, nests: true };
}

const dnsmasq: ForeignFormat = nested({
  open: () => new LineByLine(new DnsmasqLines()),
  hasWholeNames: true,
});

/** The formats that need a reader, by the `type` of a source. */
export const foreignFormats: ReadonlyMap<string, ForeignFormat> = new Map<string, ForeignFormat>([
  ["wildcard", named(prefixedNames({ "*.": subtree }, exact))],
  ["dnsmasq", dnsmasq],
  ["dnsmasq-servers", dnsmasq],
  ["unbound", nested(named(unboundLine))],
  ["rpz", nested({ open: () => new LineByLine(new RpzLines(), /^\s*;/), hasTargets: true })],
  ["dnscrypt", named(dnscryptLine)],
  ["smartdns", nested(named(smartdnsLine))],
  ["dnsdist", named(prefixedNames({}, subtree))],
  ["squid", named(prefixedNames({ ".": subtree }, exact))],
  ["rbldnsd", nested(named(rbldnsdLine, /^\s*[#;]/))],
  ["blocky", named(blockyLine)],
  ["mihomo", named(mihomoLine)],
  ["sing-box", { open: () => new SingBoxNames(), hasWholeNames: true }],
  ["json", nested({ open: () => new JsonEntries() })],
]);
