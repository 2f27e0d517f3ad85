import { encodeUtf8 } from "../bytes/utf8.ts";
import { formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { asciiLine } from "../syntax/ascii-line.ts";
import { mapNames } from "../syntax/hosts-names.ts";
import { toAsciiHost } from "../syntax/idna.ts";
import { isIpv4Text } from "../syntax/ip.ts";
import { Suffix, suffixIn } from "../syntax/public-suffix.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { isDomainName } from "./line.ts";

/** The name of a line that consists of a name, perhaps with a note. */
const NAME_LINE = /^(?<name>[^\s.|^*/@$#!-][^\s|^*/@$#!]*\.[^\s|^*/@$#!]*)(?:\s+#.*)?$/;
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const PLAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);
/** No resolver reads a longer rule. */
const LONGEST_RULE = 4096;
const NON_ASCII = /[^\u0000-\u007f]/;
/** The same before a note or a selector. */
const FOREIGN = /^[^#]*?[^\u0000-\u007f#]/;

/**
 * The line as every resolver reads it: names in lower-case ASCII, without a final dot. AdGuard's engine compares the names of hosts lines
 * as they are written, and it takes a name alone for a part of a name if it has an underscore, a hyphen at the end of a label or a
 * last label that is not made of letters: such a name gets an address. A line that changes loses its note. Undefined if a name has
 * no ASCII form. For lines without outer blanks that are not comments.
 */
export function normalLine(text: string, isHosts: boolean): string | undefined {
  if (isHosts) return normalHosts(text);
  if (text.length > LONGEST_RULE) return text;
  const written = NAME_LINE.exec(text)?.groups?.["name"];
  // A single label with a dot is a part of a name.
  const isNamed = written !== undefined && /\.[^.]/.test(written) && !isIpv4Text(written);
  if (!isNamed) return normalRule(text);
  const name = normalName(written);
  if (name === undefined) return NON_ASCII.test(written) ? undefined : text;
  // `banner_300.gif` is a part of a URL.
  if (!PLAIN.test(name) && !hasListedSuffix(name)) return text;
  const line = isDomainName(name) ? name : `0.0.0.0 ${name}`;
  return line === written ? text : line;
}

function hasListedSuffix(name: string): boolean {
  return suffixIn(encodeUtf8(name), false).kind === Suffix.Icann;
}

/** A name that can be asked for; undefined for any other text. */
function normalName(written: string): string | undefined {
  const ascii = NON_ASCII.test(written) ? toAsciiHost(written) : written;
  const name = ascii?.toLowerCase().replace(/\.+$/, "");
  return name !== undefined && NAME.test(name) ? name : undefined;
}

function normalHosts(text: string): string | undefined {
  // The engine takes the last letter for a part of a note that is not behind a blank.
  const hash = text.search(/\S#/) + 1;
  const line = hash === 0 ? text : text.slice(0, hash);
  // Names that cannot be asked for stay, unless they are not ASCII.
  const named = mapNames(
    line,
    (name) => normalName(name) ?? (NON_ASCII.test(name) ? undefined : name),
  );
  // The engine knows addresses without brackets and without leading zeros, and only spaces and tabs between names.
  return named
    ?.replace(/^\[(?<address>[^\]\s]*)\]/, "$<address>")
    .replace(/^[\d.]+(?=\s)/, (address) => address.replace(/(?<![\d])0+(?=\d)/g, ""))
    .replace(/^[^#]+/, (names) => names.replace(/[^\S \t]+/g, " "));
}

/** A pattern that can match a name, and the start of any other one that begins at a label. */
const NAME_PATTERN = /^\|{0,2}(?:(?:https?)?:\/\/)?[\w.*-]*[|^*]*$/;
const LABEL_START = /^\|\|[^$/^]*/;
const FINAL_DOT = /^(?<name>(?:\|{1,2}|(?:https?)?:\/\/)[\w-]+(?:\.[\w-]+)+)\.+(?<end>[|^]+)$/;
const BETWEEN_LABELS = /[\s.|^$,=]/;

function normalRule(text: string): string | undefined {
  // A label with a wildcard and letters of another script has no ASCII form. No name matches it.
  const isWild =
    text.includes("*") &&
    text.split(BETWEEN_LABELS).some((label) => label.includes("*") && NON_ASCII.test(label));
  const ascii = isWild || !FOREIGN.test(text) ? text : asciiLine(text);
  const rule = ascii === undefined ? undefined : parseAdblockRule(ascii);
  if (rule === undefined || isRegexText(rule.pattern)) return ascii;
  const pattern = NAME_PATTERN.test(rule.pattern.toLowerCase())
    ? rule.pattern.toLowerCase().replace(FINAL_DOT, "$<name>$<end>")
    : rule.pattern.replace(LABEL_START, (start) => start.toLowerCase());
  const modifiers = rule.modifiers.map((one) =>
    one.name === "denyallow" && one.value !== undefined
      ? { ...one, value: one.value.toLowerCase() }
      : one,
  );
  const isNormal =
    pattern === rule.pattern &&
    modifiers.every(({ value }, index) => value === rule.modifiers[index]!.value);
  return isNormal ? ascii : formatAdblockRule({ ...rule, pattern, modifiers });
}
