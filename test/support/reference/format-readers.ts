import type { AnswerTest, FormatFiles, FormatReader } from "./format-files.ts";
import { ListMatcher } from "./list-matcher.ts";
import { readBlocky } from "./readers/blocky.ts";
import { readDnscrypt } from "./readers/dnscrypt.ts";
import { dnsmasqAnswers } from "./readers/dnsmasq.ts";
import { hostsAnswers, readNames } from "./readers/hosts.ts";
import { readJson } from "./readers/json.ts";
import { readMihomo } from "./readers/mihomo.ts";
import { readPihole } from "./readers/pihole.ts";
import { readRbldnsd } from "./readers/rbldnsd.ts";
import { rpzAnswers } from "./readers/rpz.ts";
import { readSingBox } from "./readers/sing-box.ts";
import { readSmartdns } from "./readers/smartdns.ts";
import { readSquid } from "./readers/squid.ts";
import { readSuffixes } from "./readers/suffixes.ts";
import { unboundAnswers } from "./readers/unbound.ts";
import { readWildcard } from "./readers/wildcard.ts";

/** What software answers that loads a file of these formats. */
export const ANSWER_READERS: Readonly<Record<string, (files: FormatFiles) => AnswerTest>> = {
  hosts: hostsAnswers,
  dnsmasq: dnsmasqAnswers,
  "dnsmasq-servers": dnsmasqAnswers,
  unbound: unboundAnswers,
  rpz: rpzAnswers,
};

/** Whether an answer is one that files block with, unless they are told otherwise. */
const isRefusal = (answer: string): boolean =>
  answer === "NXDOMAIN" || answer.startsWith("A 0.0.0.0");

function refusing(format: string): FormatReader {
  return (files) => {
    const answer = ANSWER_READERS[format]!(files);
    return (name) => isRefusal(answer(name));
  };
}

export const FORMAT_READERS: Readonly<Record<string, FormatReader>> = {
  adblock: ({ block }) => {
    const matcher = ListMatcher.of(block);
    return (name) => matcher.isBlocked(name);
  },
  hosts: refusing("hosts"),
  domains: readNames,
  wildcard: readWildcard,
  dnsmasq: refusing("dnsmasq"),
  "dnsmasq-servers": refusing("dnsmasq-servers"),
  unbound: refusing("unbound"),
  rpz: refusing("rpz"),
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
