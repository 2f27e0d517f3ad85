import type { FormatReader } from "./format-files.ts";
import { ListMatcher } from "./list-matcher.ts";
import { readBlocky } from "./readers/blocky.ts";
import { readDnscrypt } from "./readers/dnscrypt.ts";
import { readDnsmasq } from "./readers/dnsmasq.ts";
import { readHosts, readNames } from "./readers/hosts.ts";
import { readJson } from "./readers/json.ts";
import { readMihomo } from "./readers/mihomo.ts";
import { readPihole } from "./readers/pihole.ts";
import { readRbldnsd } from "./readers/rbldnsd.ts";
import { readRpz } from "./readers/rpz.ts";
import { readSingBox } from "./readers/sing-box.ts";
import { readSmartdns } from "./readers/smartdns.ts";
import { readSquid } from "./readers/squid.ts";
import { readSuffixes } from "./readers/suffixes.ts";
import { readUnbound } from "./readers/unbound.ts";
import { readWildcard } from "./readers/wildcard.ts";

export const FORMAT_READERS: Readonly<Record<string, FormatReader>> = {
  adblock: ({ block }) => {
    const matcher = ListMatcher.of(block);
    return (name) => matcher.isBlocked(name);
  },
  hosts: readHosts,
  domains: readNames,
  wildcard: readWildcard,
  dnsmasq: readDnsmasq,
  "dnsmasq-servers": readDnsmasq,
  unbound: readUnbound,
  rpz: readRpz,
  dnscrypt: readDnscrypt,
  smartdns: readSmartdns,
  dnsdist: readSuffixes,
  squid: readSquid,
  rbldnsd: readRbldnsd,
  pihole: readPihole,
  blocky: readBlocky,
  mihomo: readMihomo,
  "sing-box": readSingBox,
  json: readJson,
};
