import { encodeUtf8 } from "../bytes/utf8.ts";

/** File systems limit names to 255 bytes, and temporary names are longer. */
const LONGEST_SLUG = 200;

function cutToBytes(text: string, most: number): string {
  let cut = "";
  let bytes = 0;
  for (const character of text) {
    bytes += encodeUtf8(character).length;
    if (bytes > most) break;
    cut += character;
  }
  return cut;
}

/** The file name for a list: letters and digits of its name, hyphens for the rest. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 200);
  return slug === "" ? "rules" : cutToBytes(slug, LONGEST_SLUG);
}
