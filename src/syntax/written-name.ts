import { asciiLabels } from "./idna.ts";

const WRITTEN = /^(?<name>[^\s.|^*/@$#!-][^\s|^*/@$#!]*\.[^\s|^*/@$#!]*)(?:\s+#.*)?$/;

/**
 * The name of a line that consists of a name, with a note or in other letters than ASCII; undefined for any other line. The scanner
 * takes such lines for rules.
 */
export function writtenName(text: string): string | undefined {
  const name = WRITTEN.exec(text)?.groups?.["name"];
  return name && foldedName(name);
}

/** In lower-case ASCII, without a final dot. */
export function foldedName(name: string): string {
  return asciiLabels(name.toLowerCase()).replace(/\.$/, "");
}
