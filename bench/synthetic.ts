import { closeSync, openSync, writeSync } from "node:fs";
import { Random } from "../test/support/random.ts";

/**
 * A list of any size, the same for the same seed: names below registrable domains whose sizes follow Zipf's law. About 35 %
 * of the lines are duplicates and 20 % subdomains of other lines. Written in blocks; memory does not depend on the size.
 */
export function writeSynthetic(path: string, lines: number, seed = 1): void {
  const random = new Random(seed);
  const domains = Math.ceil(lines * 0.6);
  const file = openSync(path, "w");
  let block = "";
  for (let line = 0; line < lines; line++) {
    // Zipf by inversion: low numbers are frequent, so that domains repeat as they do in real lists.
    const rank = Math.floor(domains ** random.next());
    const isSubdomain = random.chance(0.35);
    const id = random.chance(isSubdomain ? 0.2 : 0.5) ? rank : random.below(domains);
    const word = WORDS[id % WORDS.length];
    const domain = `${word}-${id.toString(36)}.${SUFFIXES[id % SUFFIXES.length]}`;
    const name = isSubdomain ? `${random.pick(LABELS)}${random.below(200)}.${domain}` : domain;
    block += `${random.pick(FORMS)(name)}\n`;
    if (block.length > 1 << 20) {
      writeSync(file, block);
      block = "";
    }
  }
  writeSync(file, block);
  closeSync(file);
}

const SUFFIXES = ["com", "net", "org", "info", "co.uk", "de", "io", "xyz", "top", "com.br"];
const WORDS = ["analytics", "banner", "click", "traffic", "market", "metrics", "adserver", "stats"];
const LABELS = ["ads", "track", "www", "cdn", "stat", "pixel", "m", "api"];
const FORMS = [
  (name: string) => `0.0.0.0 ${name}`,
  (name: string) => `||${name}^`,
  (name: string) => name,
];
