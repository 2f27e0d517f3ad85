import { quickAscii } from "./idna.ts";
import { readHostsLine, hostsLine, nextName } from "./hosts-line.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";

/** A name that must stay reachable, whatever it was written in. */
export interface AllowEntry {
  readonly name: string;
  /** Whether everything below the name is meant too, and whether the name itself is. */
  readonly below: boolean;
  readonly self: boolean;
}

const NAME = /^[a-z0-9_\u0080-\uffff](?:[a-z0-9_.\u0080-\uffff-]*[a-z0-9_\u0080-\uffff])?$/;

/**
 * Reads an entry of an allow-list: a plain name or a hosts line means that name alone; `||name^` and `@@||name^` the name
 * and all below it; `*.name` all below it. Undefined when it is none of these.
 */
export function readAllowEntry(text: string): AllowEntry[] | undefined {
  return readEntry(text)?.flatMap((entry) => {
    // In the DNS, and in most lists, a name of another script has an ASCII form.
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

/** An entry in one of the forms that it is read from. */
export function writtenEntry({ name, below, self }: AllowEntry): string {
  if (!below) return name;
  return self ? `||${name}^` : `*.${name}`;
}
