import { classEnd, flagsAt } from "./regex-cost.ts";

const COUNT = /\{\d+,?\d*\}/y;

/**
 * Texts in lower case that every match of an expression contains: runs of plain characters that are outside of groups and
 * classes and not optional. ASCII only, because `ſ` matches `s` if case is ignored.
 */
export function regexTexts(source: string): string[] {
  const texts: string[] = [];
  let run = "";
  let depth = 0;
  const end = (): void => {
    if (run !== "") texts.push(run.toLowerCase());
    run = "";
  };
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === "|" && depth === 0) return [];
    if (character === "[") {
      end();
      const last = classEnd(source, at);
      // RE2 reads `[:alpha:]` inside as a class, JavaScript does not.
      if (source.slice(at + 1, last).includes("[")) return [];
      at = last;
    } else if (character === "(") {
      const flags = flagsAt(source, at);
      if (flags > 0) {
        at += flags - 1;
        // In RE2, this repeats the text before the flags or makes it optional.
        if (/[*+?{]/.test(source[at + 1] ?? "")) return [];
        continue;
      }
      end();
      depth++;
    } else if (character === ")") {
      run = "";
      depth--;
    } else if (character === "?" || character === "*") {
      // The preceding character is optional.
      run = run.slice(0, -1);
      end();
    } else if (character === "{") {
      COUNT.lastIndex = at;
      const count = COUNT.exec(source)?.[0] ?? "";
      run = run.slice(0, -1);
      end();
      at += Math.max(0, count.length - 1);
    } else if (character === "\\") {
      const next = source[++at] ?? "";
      // A character code or a class: the text after it is not literal.
      if (/[0-9xuUcpPkQ]/.test(next)) return [];
      if (/[A-Za-z]|[^\u0020-\u007e]/.test(next)) end();
      else if (depth === 0) run += next;
    } else if (/[+^$.]|[^\u0020-\u007e]/.test(character)) end();
    else if (depth === 0) run += character;
  }
  end();
  return texts;
}
