import { quickAscii } from "./idna.ts";
import { readHostsLine, hostsLine, nextName } from "./hosts-line.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";

/** A name that must stay reachable, independent of its syntax. */
export interface AllowEntry {
  readonly name: string;
  /** Whether the entry includes all names below the name, and whether it includes the name itself. */
  readonly below: boolean;
  readonly self: boolean;
}

const NAME = /^[a-z0-9_\u0080-\uffff](?:[a-z0-9_.\u0080-\uffff-]*[a-z0-9_\u0080-\uffff])?$/;

/**
 * Parses an entry of an allow-list. A plain name or a hosts line allows only that name; `||name^` and `@@||name^` allow
 * the name and all names below it; `*.name` allows all names below it. Undefined for anything else.
 */
export function readAllowEntry(text: string): AllowEntry[] | undefined {
  return readEntry(text)?.flatMap((entry) => {
    // The DNS, and most lists, use the ASCII form of an internationalized name.
    const ascii = /[^\u0000-\u007f]/.test(entry.name) ? quickAscii(entry.name) : entry.name;
    return ascii === entry.name ? [entry] : [entry, { ...entry, name: ascii }];
  });
}

function readEntry(text: string): AllowEntry[] | undefined {
  const line = text.trim().toLowerCase();
  const bytes = encodeUtf8(line);
  if (readHostsLine(bytes, 0, bytes.length)) {
    const entries: AllowEntry[] = [];
    do {
      const name = decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd);
      if (NAME.test(name)) entries.push({ name, below: false, self: true });
    } while (nextName(bytes));
    return entries.length === 0 ? undefined : entries;
  }
  const rule = /^(?:@@)?\|\|(?<star>\*\.)?(?<name>[^\s^|$/*]+)\^?\|?(?:\$important)?$/.exec(line);
  const { star, name } = rule?.groups ?? {};
  if (name !== undefined && NAME.test(name))
    return [{ name, below: true, self: star === undefined }];
  const exact = /^(?:@@)?\|(?<only>[^\s^|$/*]+)\^?\|?(?:\$important)?$/.exec(line)?.groups?.[
    "only"
  ];
  if (exact !== undefined && NAME.test(exact)) return [{ name: exact, below: false, self: true }];
  const wildcard = /^\*\.(?<below>[^*]+)$/.exec(line)?.groups?.["below"];
  if (wildcard !== undefined && NAME.test(wildcard))
    return [{ name: wildcard, below: true, self: false }];
  const bare = line.replace(/\.$/, "");
  if (!NAME.test(bare) || !bare.includes(".")) return undefined;
  return [{ name: bare, below: false, self: true }];
}

/** Formats an entry so that `readAllowEntry` accepts it. */
export function writtenEntry({ name, below, self }: AllowEntry): string {
  if (!below) return name;
  return self ? `||${name}^` : `*.${name}`;
}
