import { createRequire } from "node:module";

interface Trie {
  readonly nodeFlags: Uint8Array;
  readonly edgeStart: Uint16Array;
  readonly edgeChild: Uint16Array;
  readonly edgeLength: Uint8Array;
  readonly labelText: string;
  readonly rulesRoot: number;
  readonly exceptionsRoot: number;
}

const ICANN = 1;

/**
 * The public suffix list as tldts carries it, one rule a line, ICANN rules first, then private ones. The compiler looks
 * names up as bytes, millions of times; this is the same data without the strings.
 */
export function suffixRules(): { icann: string[]; private: string[]; version: string } {
  const require = createRequire(import.meta.url);
  const trie = require("tldts/dist/cjs/src/data/trie.js") as Trie;
  const { version } = require("tldts/package.json") as { version: string };
  const offsets = labelOffsets(trie);
  const icann: string[] = [];
  const privates: string[] = [];

  function walk(node: number, suffix: string, mark: string): void {
    for (let edge = trie.edgeStart[node]!; edge < trie.edgeStart[node + 1]!; edge++) {
      const at = offsets[edge]!;
      const label = trie.labelText.slice(at, at + trie.edgeLength[edge]!);
      const name = suffix === "" ? label : `${label}.${suffix}`;
      const child = trie.edgeChild[edge]!;
      const flags = trie.nodeFlags[child]!;
      if (flags !== 0) ((flags & ICANN) !== 0 ? icann : privates).push(`${mark}${name}`);
      walk(child, name, mark);
    }
  }

  walk(trie.rulesRoot, "", "");
  walk(trie.exceptionsRoot, "", "!");
  const isAscii = (name: string): boolean => /^[\x21-\x7e]+$/.test(name);
  return { icann: icann.filter(isAscii).sort(), private: privates.filter(isAscii).sort(), version };
}

function labelOffsets(trie: Trie): number[] {
  const offsets: number[] = [];
  let offset = 0;
  for (let edge = 0; edge < trie.edgeLength.length; edge++) {
    offsets[edge] = offset;
    offset += trie.edgeLength[edge]!;
  }
  return offsets;
}
