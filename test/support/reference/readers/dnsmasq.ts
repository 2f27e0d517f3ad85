import type { BlockTest, FormatFiles } from "../format-files.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

interface Pattern {
  /** Without the star. */
  readonly text: string;
  readonly isWild: boolean;
  readonly blocks: boolean;
}

const LINE = /^(?<option>address|server|local)=\/(?<domains>.+)\/(?<target>[^/]*)$/;

/**
 * dnsmasq(8): a domain matches whole labels; a star at its start matches any text before it. The longest wins, without a
 * star before with one. `#` as a server means the usual servers; an `address`, or a server without a target, answers here.
 */
export function readDnsmasq({ block }: FormatFiles): BlockTest {
  const patterns = linesOf(block, "#").flatMap(patternsOf);
  const byText = new Map<string, Pattern[]>();
  for (const pattern of patterns)
    byText.set(pattern.text, [...(byText.get(pattern.text) ?? []), pattern]);
  return (name) => {
    for (let at = 0; at < name.length; at++) {
      const isLabel = at === 0 || name[at - 1] === ".";
      const found = (byText.get(name.slice(at)) ?? []).filter(({ isWild }) => isWild || isLabel);
      const first = found.find(({ isWild }) => !isWild) ?? found[0];
      if (first === undefined) continue;
      return found.some(({ isWild, blocks }) => isWild === first.isWild && blocks);
    }
    return false;
  };
}

function patternsOf(line: string): Pattern[] {
  const { option, domains, target } = LINE.exec(line)?.groups ?? {};
  if (domains === undefined) throw new RefusedFile(line);
  const blocks = option === "address" || target !== "#";
  return domains.split("/").map((domain) => {
    const isWild = domain.startsWith("*");
    return { text: (isWild ? domain.slice(1) : domain).toLowerCase(), isWild, blocks };
  });
}
