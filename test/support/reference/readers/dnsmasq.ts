import { isIP } from "node:net";
import { type AnswerTest, type FormatFiles, answerOf } from "../format-files.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

interface Pattern {
  /** Without the star. */
  readonly text: string;
  readonly isWild: boolean;
  /** A record, `NXDOMAIN`, or "" for other servers. */
  readonly said: readonly string[];
}

const LINE = /^(?<option>address|server|local)=\/(?<domains>.+)\/(?<target>[^/]*)$/;

/**
 * dnsmasq(8): a domain matches whole labels; a star at its start matches any text before it. The longest wins, without a
 * star before with one. `#` as a server means the usual servers; an `address`, or a server without a target, answers here.
 */
export function dnsmasqAnswers({ block }: FormatFiles): AnswerTest {
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
      const said = found.flatMap((one) => (one.isWild === first.isWild ? one.said : []));
      const records = said.filter((one) => one.includes(" "));
      // Without a line that answers all other types, they are forwarded.
      if (records.length > 0 && !said.includes("NXDOMAIN")) throw new RefusedFile(first.text);
      return records.length > 0 ? answerOf(records) : said.includes("NXDOMAIN") ? "NXDOMAIN" : "";
    }
    return "";
  };
}

function patternsOf(line: string): Pattern[] {
  const { option, domains, target } = LINE.exec(line)?.groups ?? {};
  if (domains === undefined) throw new RefusedFile(line);
  const said = saidBy(option!, target!);
  return domains.split("/").map((domain) => {
    const isWild = domain.startsWith("*");
    return { text: (isWild ? domain.slice(1) : domain).toLowerCase(), isWild, said };
  });
}

function saidBy(option: string, target: string): string[] {
  if (target === "") return ["NXDOMAIN"];
  if (option !== "address") return target === "#" ? [] : ["SERVER"];
  if (target === "#") return ["A 0.0.0.0", "AAAA ::"];
  const version = isIP(target);
  if (version === 0) throw new RefusedFile(target);
  return [`${version === 4 ? "A" : "AAAA"} ${target}`];
}
