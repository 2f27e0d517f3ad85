import type { Random } from "../random.ts";

/** What somebody might write who wants to weaken others' rules, rewrite answers or lead subscribers astray. */
type Spelling = (target: Target, random: Random) => string;

export interface Target {
  readonly name: string;
  /** The name without its first label. */
  readonly parent: string;
  readonly suffix: string;
}

/** Nobody listens there. */
const ELSEWHERE = "http://127.0.0.1:9/evil";
const BREAKS = ["\u2028", "\u2029", "\u0085", "\v", "\f", "\r", "\u001c", "\u0001"];
const INVISIBLE = ["\u202e", "\u2066", "\u200f", "\ufeff", "\u200b", "\u00ad", "\u2060"];

/** Rules that look like covers and are dead. */
const DEAD_COVERS: readonly Spelling[] = [
  ({ parent }) => `||${parent}^$`,
  ({ parent }) => `||${parent}^$,`,
  ({ parent }) => `||${parent}^$,,`,
  ({ parent }) => `||${parent}^$ `,
  ({ name }) => `||${name}^$`,
  ({ name }) => `|${name}^$`,
  ({ parent }) => `||${parent}^$$`,
  ({ parent }) => `||${parent}^$$$`,
  ({ parent }) => `||${parent}^$,$`,
  ({ parent }) => `||${parent}^$important$`,
  ({ parent }) => `||${parent}^$important,`,
  ({ parent }) => `||${parent}^$,important`,
  ({ parent }) => `||${parent}.^`,
  ({ parent }) => `||.${parent}^`,
  ({ parent }) => `||${parent}^^`,
  ({ parent }) => `||${parent}^ # note`,
  ({ parent }) => `||${parent}^\u00a0`,
  ({ parent }, random) => `||${parent}^${random.pick(INVISIBLE)}`,
  ({ parent }, random) => `${random.pick(INVISIBLE)}||${parent}^`,
  ({ parent }) => `||${parent}^|$`,
  ({ parent }) => `||${parent}$`,
  ({ parent }) => `0.0.0.0 ${parent}$`,
  ({ parent }) => `||${parent}^$third-party`,
  ({ parent }) => `||${parent}^$document,`,
  ({ parent, name }) => `||${parent}^$denyallow=${name}`,
  ({ parent, name }) => `||${parent}^$denyallow=${name.toUpperCase()}`,
  ({ parent }) => `||${parent}^$dnstype=A`,
  ({ parent }) => `||${parent}^$client=10.0.0.1`,
  ({ parent }) => `||${parent}^$popup,client=10.0.0.1`,
];

/** Modifiers that one reader sees and another does not. */
const MODIFIERS = [
  "important\\,dnsrewrite=6.6.6.6",
  "important\\,badfilter",
  "\\,badfilter",
  "badfilter\\,",
  " badfilter",
  "\tbadfilter",
  "badfilter ",
  "bad filter",
  "badfilter\u0001",
  "BADFILTER",
  "Badfilter",
  "~badfilter",
  "badfilter=1",
  "badfilter=",
  ",badfilter",
  "badfilter,",
  "badfilter",
  "important,badfilter",
  "badfilter,important",
  "third-party,badfilter",
  "document\\,badfilter",
  "popup\\,dnsrewrite=6.6.6.6",
  "all,dnsrewrite=6.6.6.6",
  "client=1\\,badfilter",
  "denyallow=x.example\\,badfilter",
  "important\\\\,badfilter",
  "dnsrewrite=6.6.6.6",
  " dnsrewrite=6.6.6.6",
  "dnsrewrite =6.6.6.6",
  "DNSREWRITE=6.6.6.6",
  "dnsrewrite=NOERROR;A;6.6.6.6",
  "dnsrewrite=evil.example,important",
  "dnsrewrite",
  "client=10.0.0.1",
  "ctag=device_pc,badfilter",
  "\uff0cbadfilter",
  "bad\u00adfilter",
  "badfilter\u2028",
];

const COVERT: readonly Spelling[] = [
  ({ name }, random) => `||${name}^$${random.pick(MODIFIERS)}`,
  ({ name }, random) => `||${name}^$${random.pick(MODIFIERS)}`,
  ({ parent }, random) => `||${parent}^$${random.pick(MODIFIERS)}`,
  ({ name }, random) => `|${name}^$${random.pick(MODIFIERS)}`,
  ({ name }, random) => `@@||${name}^$${random.pick(MODIFIERS)}`,
  ({ name }, random) => `${name}$${random.pick(MODIFIERS)}`,
  ({ name }, random) => `  ||${name}^$${random.pick(MODIFIERS)}  `,
  ({ name }, random) => `0.0.0.0 ${name}$${random.pick(MODIFIERS)}`,
  ({ name }) => `||${name}^\uff04badfilter`,
  ({ name }) => `||${name}\\$badfilter^`,
];

/** Comments that programs of subscribers act on. */
const METADATA = ["Diff-Path", "Diff-Expires", "Title", "Expires", "Redirect", "Checksum"];
const MORE_METADATA = ["Homepage", "Version", "Last modified", "TimeUpdated"];

const COMMENTS: readonly Spelling[] = [
  (_, random) => `! ${random.pick([...METADATA, ...MORE_METADATA])}: ${ELSEWHERE}`,
  (_, random) => `! ${random.pick(METADATA)}: ${ELSEWHERE}`,
  (_, random) => `!${random.pick(METADATA)}: ${ELSEWHERE}`,
  (_, random) => `# ${random.pick(METADATA)}: ${ELSEWHERE}`,
  (_, random) => `  ! ${random.pick(METADATA)}: ${ELSEWHERE}`,
  (_, random) => `!\t${random.pick(METADATA).toLowerCase()} : ${ELSEWHERE}`,
  () => `! by evil ! Diff-Path: ${ELSEWHERE}`,
  () => `||x.evil.example^ ! Diff-Path: ${ELSEWHERE}`,
  (_, random) => `${random.pick([" ", "\t", "\u00a0"])}!#if (false)`,
  (_, random) => `${random.pick([" ", "\t", "  "])}!#endif`,
  () => ` !#include ${ELSEWHERE}`,
  () => "!#safari_cb_affinity(all)",
  (_, random) => `${random.pick(["", " "])}!+ NOT_OPTIMIZED PLATFORM(windows)`,
  ({ name }, random) => `! note${random.pick(BREAKS)}@@||${name}^$important`,
  ({ name }, random) => `! note${random.pick(BREAKS)}||${name}^$dnsrewrite=6.6.6.6`,
  ({ name }, random) => `||${name}^${random.pick(BREAKS)}@@||${name}^`,
  ({ name }, random) => `! ${random.pick(INVISIBLE)}${name}`,
  () => "[Adblock Plus 2.0]",
];

/** Exceptions for more than their author may allow, or in a spelling that only some read. */
const EXCEPTIONS: readonly Spelling[] = [
  ({ name }) => `@@||${name}^`,
  ({ name }) => `@@||${name}^$important`,
  ({ parent }) => `@@||${parent}^$important`,
  ({ suffix }) => `@@||${suffix}^`,
  ({ suffix }) => `@@||*.${suffix}^$important`,
  () => "@@*****$important",
  () => "@@||*.*^$important",
  () => "@@/.*.*/$important",
  () => "@@/./",
  () => "@@*$denyallow=evil.example",
  ({ name }) => `@@/${name}/`,
  ({ name }) => `@@||${name}^$`,
  ({ name }) => `@@||${name}^$,`,
  ({ name }) => `@@${name}$`,
  ({ name }) => `@@||${name}^$important,`,
  ({ name }) => `\uff20\uff20||${name}^`,
  ({ name }) => `@@\uff5c\uff5c${name}^`,
  ({ name }) => `@@||${wide(name)}^`,
  ({ name }) => `@@||${name.replaceAll(".", "\u3002")}^$important`,
  ({ name }) => ` @@||${name}^`,
  ({ name }) => `@@ ||${name}^`,
];

const HOSTS: readonly Spelling[] = [
  ({ name }) => `6.6.6.6 ${name}`,
  ({ name }) => `::ffff:6.6.6.6 ${name}`,
  ({ name }) => `0.0.0.0\u00a0${name}`,
  ({ name }) => `0x0.0.0.0 ${name}`,
  ({ name }) => `127.1 ${name}`,
  ({ name }) => `0.0.0.0 @@||${name}^`,
  ({ name }) => `0.0.0.0 ||${name}^$badfilter`,
  ({ suffix }) => `0.0.0.0 ${suffix}`,
  ({ parent }) => `0.0.0.0 ${parent}`,
  ({ parent }) => `0.0.0.0 ${parent}. #x`,
  ({ name }) => `0.0.0.0 ${name}#||${name}^$badfilter`,
  ({ name, suffix }) => `0.0.0.0 ${name} ${suffix} 6.6.6.6`,
  ({ parent }) => `  6.6.6.6\t${parent}`,
];

const BLOCKS: readonly Spelling[] = [
  ({ name }) => `||${name}^`,
  ({ name }) => `||${name.toUpperCase()}^`,
  ({ name }) => `||${wide(name)}^`,
  ({ parent }) => `||${parent}^`,
  ({ parent }) => `||${parent}^$important`,
  ({ parent }) => `||*.${parent}^`,
  ({ suffix }) => `||${suffix}^`,
  ({ suffix }) => `*.${suffix}`,
  ({ parent }) => `.${parent}^`,
  ({ parent }) => `||${parent}`,
  ({ name }) => `/${name}/`,
  ({ name }) => `/^${name}$/$dnsrewrite=6.6.6.6`,
  () => "/^.*$/",
  () => "*****",
  () => "||^",
  () => "@@",
  () => "",
];

/** The same letters at twice the width: equal to some readers, others to the rest. */
function wide(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) =>
    String.fromCodePoint(letter.codePointAt(0)! + 0xfee0),
  );
}

const CLASSES = [DEAD_COVERS, COVERT, COMMENTS, EXCEPTIONS, HOSTS, BLOCKS];

export function hostileLine(name: string, random: Random): string {
  const labels = name.split(".");
  const target = { name, parent: labels.slice(1).join("."), suffix: labels.at(-1)! };
  return random.pick(random.pick(CLASSES))(target, random);
}
