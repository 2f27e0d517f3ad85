import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { asciiLabels } from "../reference/names.ts";
import { corpusFolder } from "../corpus.ts";

const PLAIN =
  /^(?:[!#;].*|[a-z0-9.-]*|(?:0\.0\.0\.0|127\.0\.0\.1|::1?)[ \t]+[a-z0-9.-]+|\|\|[a-z0-9.-]+\^)$/;

export interface RealLines {
  /** All lines of the corpus. */
  readonly total: number;
  /** Those that are neither comments, plain names, plain hosts lines nor `||name^`. */
  readonly special: number;
  /** One line of each shape. */
  readonly lines: readonly string[];
}

/** The lines of all real lists that are worth a question, one of each shape. */
export function realLines(
  sets: readonly ("typical" | "power")[],
  shapeOf: (line: string) => string,
): RealLines {
  const byShape = new Map<string, string>();
  let total = 0;
  let special = 0;
  for (const set of sets) {
    const folder = corpusFolder(set);
    for (const file of readdirSync(folder).toSorted())
      for (const raw of readFileSync(join(folder, file), "utf8").split(/\r\n|\r|\n/)) {
        total++;
        const line = raw.trim();
        if (PLAIN.test(line)) continue;
        special++;
        const shape = shapeOf(line);
        if (!byShape.has(shape)) byShape.set(shape, line);
      }
  }
  return { total, special, lines: [...byShape.values()] };
}

/** What a line has besides its names, letters and digits. */
export function fineShape(line: string): string {
  return line
    .replaceAll(/[a-z0-9-]+(?:\.[a-z0-9-]+)+/g, "N")
    .replaceAll(/\d+/g, "9")
    .replaceAll(/[a-z]+/g, "a")
    .replaceAll(/[A-Z]+/g, "A")
    .replaceAll(/[^\u0000-\u007f]+/g, "é")
    .replaceAll(/(?:N[|,])+N/g, "N");
}

/** The same, where all rules for elements of pages are alike, and all paths. */
export function coarseShape(line: string): string {
  if (/#@?[$%?]{0,2}#|\$@?\$/.test(line)) return "##";
  if (/^(?:@@)?\/.*\/(?:\$|$)/.test(line)) return line;
  return fineShape(line.replace(/\s+#.*$/, " #"))
    .replaceAll(/[a9A][\w-]*/g, "a")
    .replace(/(?<=N|a)\/[^$|^]*/, "/p")
    .replaceAll(/(?:a,)+a/g, "a");
}

/** Names that a line may be about: those in it, one below each, the parent, and a neighbour. */
export function namesOf(line: string): string[] {
  const text = asciiLabels(
    line.replaceAll(String.raw`\.`, ".").replaceAll(/\[[^\]]*\]|\\[dw]/g, "1"),
  ).toLowerCase();
  const found = (text.match(/[a-z0-9_-]+(?:\.[a-z0-9_-]+)+/g) ?? []).slice(0, 3);
  const names = found.flatMap((name) => [
    name,
    `q9.${name}`,
    name.slice(name.indexOf(".") + 1),
    `x${name}`,
  ]);
  const labels = (text.match(/[a-z0-9_-]{2,}/g) ?? []).slice(0, 2);
  const around = labels.flatMap((label) => [`${label}.example.com`, `www.${label}.net`]);
  return [...new Set([...names, ...around, "example.com"])].filter(
    (name) => name.includes(".") && !/^[\d.]+$/.test(name) && name.length < 200,
  );
}
