import { adblockCopy } from "./adblock-copy.ts";
import { blocky } from "./blocky.ts";
import { cdb } from "./cdb.ts";
import { dnscrypt } from "./dnscrypt.ts";
import { dnsdist } from "./dnsdist.ts";
import { dnsmasq } from "./dnsmasq.ts";
import { dnsmasqServers } from "./dnsmasq-servers.ts";
import { domains } from "./domains.ts";
import { hosts } from "./hosts.ts";
import { json } from "./json.ts";
import { mihomo } from "./mihomo.ts";
import type { NameFormat } from "./name-format.ts";
import { pihole } from "./pihole.ts";
import { rbldnsd } from "./rbldnsd.ts";
import { rpz } from "./rpz.ts";
import { singBox } from "./sing-box.ts";
import { smartdns } from "./smartdns.ts";
import { squid } from "./squid.ts";
import { unbound } from "./unbound.ts";
import { wildcard } from "./wildcard.ts";

/** All output formats, by their name in the configuration. */
export const nameFormats: ReadonlyMap<string, NameFormat> = new Map([
  ["adblock", adblockCopy],
  ["hosts", hosts],
  ["domains", domains],
  ["wildcard", wildcard],
  ["dnsmasq", dnsmasq],
  ["dnsmasq-servers", dnsmasqServers],
  ["unbound", unbound],
  ["rpz", rpz],
  ["dnscrypt", dnscrypt],
  ["smartdns", smartdns],
  ["dnsdist", dnsdist],
  ["squid", squid],
  ["rbldnsd", rbldnsd],
  ["pihole", pihole],
  ["blocky", blocky],
  ["mihomo", mihomo],
  ["sing-box", singBox],
  ["json", json],
  ["cdb", cdb],
]);
