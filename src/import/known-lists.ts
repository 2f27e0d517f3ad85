import type { SourceType } from "../config/fields.ts";

/** Popular lists that `init` offers to new users. */
export const KNOWN_LISTS: readonly {
  readonly name: string;
  readonly source: string;
  readonly type: SourceType;
  readonly what: string;
}[] = [
  {
    name: "AdGuard DNS filter",
    source: "https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt",
    type: "adblock",
    what: "ads and trackers, careful",
  },
  {
    name: "StevenBlack hosts",
    source: "https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts",
    type: "hosts",
    what: "ads and malware, from many sources",
  },
  {
    name: "OISD small",
    source: "https://small.oisd.nl",
    type: "adblock",
    what: "ads, made not to break anything",
  },
  {
    name: "OISD big",
    source: "https://big.oisd.nl",
    type: "adblock",
    what: "ads, trackers and more",
  },
  {
    name: "HaGeZi Pro",
    source: "https://cdn.jsdelivr.net/gh/hagezi/dns-blocklists@latest/adblock/pro.txt",
    type: "adblock",
    what: "ads, trackers, malware; thorough",
  },
  {
    name: "Phishing Army",
    source: "https://phishing.army/download/phishing_army_blocklist.txt",
    type: "domains",
    what: "phishing",
  },
];
