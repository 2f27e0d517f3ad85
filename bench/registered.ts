import { Buffer } from "node:buffer";
import { closeSync, openSync, writeSync } from "node:fs";

/**
 * Registered names per suffix in thousands, from the largest registries' counts of 2024 (DNIB reports 362 million in all). The rest
 * is spread over many small suffixes.
 */
const SUFFIXES: readonly (readonly [suffix: string, thousands: number])[] = [
  ["com", 156_000],
  ["cn", 20_000],
  ["de", 17_700],
  ["net", 12_700],
  ["org", 11_100],
  ["co.uk", 9_400],
  ["nl", 6_200],
  ["ru", 5_600],
  ["com.br", 4_900],
  ["xyz", 3_900],
  ["fr", 4_200],
  ["com.au", 3_700],
  ["eu", 3_700],
  ["it", 3_500],
  ["top", 3_300],
  ["info", 3_300],
  ["co", 3_200],
  ["online", 3_100],
  ["shop", 3_000],
  ["ca", 3_400],
  ["pl", 2_500],
  ["ch", 2_500],
  ["store", 1_800],
  ["es", 2_000],
  ["in", 2_900],
  ["site", 1_400],
  ["be", 1_700],
  ["jp", 1_700],
  ["se", 1_400],
  ["us", 1_900],
  ["io", 1_600],
  ["co.za", 1_300],
  ["at", 1_400],
  ["me", 1_100],
  ["biz", 1_200],
  ["vip", 900],
  ["app", 900],
  ["club", 600],
  ["dev", 500],
  ["tk", 4_000],
];
const SYLLABLES =
  "a al an ap ar art as auto b ba bar be best bi blog bo book buy by ca car center ch city clean co com con da data de des di digi do dr e eco ed el en er es ex fa fi fit for fun ga game gen go gold green gro ha health home hot house i il in info ing is it jo k ka ki la law le life li live lo ma market med mi mo mu my na net new no nu o on online op or out pa pay ph pi pla plus po pre pro ra re ri ro s sa se shop si sk smart so sol st stu sun ta tech te th the ti to top tra tri u un up us v va vi vo wa web wi work wor x y yo z zen".split(
    " ",
  );
const PIECE = 1 << 20;
const LONGEST_LINE = 100;
/** Share of lines that repeat an earlier name, and of those with `www.` before it. */
const REPEATED = 0.1;
const WITH_WWW = 0.05;

/** Writes names as plain lines: the same for the same number, in pieces, so that memory does not depend on it. */
export function writeRegistered(path: string, count: number): void {
  const file = openSync(path, "w");
  const bytes = Buffer.alloc(PIECE);
  const suffixes = weighted();
  const syllables = SYLLABLES.map((text) => Buffer.from(text));
  let at = 0;
  for (let line = 0; line < count; line++) {
    if (at > PIECE - LONGEST_LINE) {
      writeSync(file, bytes, 0, at);
      at = 0;
    }
    const choice = mixed(line ^ 0x5bd1e995) / 2 ** 32;
    // The name of an earlier line, any time before.
    const of = choice < REPEATED ? mixed(line + 7) % (line + 1) : line;
    if (choice > 1 - WITH_WWW) at += bytes.write("www.", at, "latin1");
    at = writeName(bytes, at, of, syllables);
    bytes[at++] = 46;
    const suffix = suffixes[mixed(of * 3 + 1) & (suffixes.length - 1)]!;
    at += suffix.copy(bytes, at);
    bytes[at++] = 10;
  }
  writeSync(file, bytes, 0, at);
  closeSync(file);
}

/** Writes the first label of the name with a number: two to six syllables, some with a hyphen or digits. */
function writeName(bytes: Buffer, from: number, of: number, syllables: readonly Buffer[]): number {
  let at = from;
  // Two numbers of 32 bits, so that 400 million names hardly collide.
  let first = mixed(of);
  let second = mixed(Math.imul(of, 0x9e3779b1) ^ 0x2545f491);
  const parts = 3 + (second & 3);
  second >>>= 2;
  for (let part = 0; part < parts; part++) {
    if (part === 2 && (second & 7) === 0) bytes[at++] = 45;
    at += syllables[first % syllables.length]!.copy(bytes, at);
    first = Math.floor(first / syllables.length);
    if (part === 2) first = second;
  }
  if ((mixed(of + 1) & 15) === 0) at += bytes.write(String(mixed(of + 2) % 1000), at, "latin1");
  return at;
}

/** 65,536 suffixes, each as often as it is registered; a tenth of them are small ones. */
function weighted(): Buffer[] {
  const sum = SUFFIXES.reduce((total, [, thousands]) => total + thousands, 0) / 0.9;
  const all = SUFFIXES.flatMap(([suffix, thousands]) =>
    Array.from({ length: Math.round((thousands / sum) * 65_536) }, () => suffix),
  );
  while (all.length < 65_536) all.push(SMALL[all.length % SMALL.length]!);
  return all.slice(0, 65_536).map((suffix) => Buffer.from(suffix));
}

const SMALL =
  "ac ae agency ai art asia av.tr be bg bond business by care cat cc cfd cl click cloud com.ar com.co com.mx com.pl com.tr com.tw com.ua com.vn cyou cz design digital dk email expert fi fun fyi gr group hk hu icu id ie il ir is kr life link live lt ltd lv media mobi mx my network news no nu one page ph pro pt pw rest ro rocks rs sbs services sg si sk solutions space studio su tech today tokyo tv tw ua vn website wiki work world ws zone".split(
    " ",
  );

/** A permutation of 32-bit numbers that mixes their bits. */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
