/** A record of a zone file. */
export interface ZoneRecord {
  /** Undefined if the line begins with a blank: the owner of the previous record. */
  readonly owner: string | undefined;
  readonly type: string;
  readonly data: readonly string[];
}

const TTL = /^(?:\d+[smhdw]?)+$/i;
const CLASS = /^(?:IN|CH|HS|CS)$/i;
const TYPE =
  /^(?:A|AAAA|AFSDB|CAA|CDNSKEY|CDS|CERT|CNAME|DNAME|DNSKEY|DS|HINFO|HTTPS|LOC|MX|NAPTR|NS|NSEC3?|NSEC3PARAM|OPENPGPKEY|PTR|RP|RRSIG|SOA|SPF|SRV|SSHFP|SVCB|TLSA|TXT|URI|ZONEMD|TYPE\d+)$/i;

/** The words of a line, without its comment. A quoted string is one word. */
export function zoneWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/"(?:[^"\\]|\\.)*"?|;.*|[()]|(?:[^\s"();\\]|\\.)+/g)) {
    if (word.startsWith(";")) break;
    words.push(word);
  }
  return words;
}

/** Reads `owner TTL class type data`; TTL and class are optional and come in any order (RFC 1035, section 5.1). */
export function zoneRecord(text: string): ZoneRecord | undefined {
  const words = zoneWords(text).filter((word) => word !== "(" && word !== ")");
  const owner = /^\s/.test(text) ? undefined : words.shift();
  while (words.length > 0 && (TTL.test(words[0]!) || CLASS.test(words[0]!))) words.shift();
  const [type, ...data] = words;
  if (type === undefined || !TYPE.test(type) || data.length === 0) return undefined;
  return { owner, type: type.toUpperCase(), data };
}

/** How many more parentheses a line opens than it closes. */
export function openParentheses(line: string): number {
  if (!line.includes("(") && !line.includes(")")) return 0;
  let open = 0;
  for (const word of zoneWords(line)) open += word === "(" ? 1 : word === ")" ? -1 : 0;
  return open;
}
