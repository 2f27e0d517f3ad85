import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type ConfigEntry, type ConfigNode, ConfigSyntaxError, MAX_DEPTH } from "./problems.ts";

/** Parses JSON, with comments for `.jsonc`. Everything else is strict. */
export function parseJson(text: string, allowsComments: boolean): ConfigNode {
  checkDepth(text);
  const errors: ParseError[] = [];
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const tree = parseTree(text.slice(start), errors, {
    disallowComments: !allowsComments,
    allowTrailingComma: false,
    allowEmptyContent: false,
  });
  const first = errors[0];
  if (first !== undefined)
    throw new ConfigSyntaxError(wordsFor(printParseErrorCode(first.error)), first.offset + start);
  if (tree === undefined) throw new ConfigSyntaxError("the file is empty", 0);
  return toConfigNode(tree, start);
}

/** jsonc-parser is recursive; a file of brackets would overflow its stack. */
function checkDepth(text: string): void {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === "\\") at++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "{" || character === "[") {
      if (++depth > MAX_DEPTH) throw new ConfigSyntaxError("it is nested too deeply", at);
    } else if (character === "}" || character === "]") depth--;
  }
}

function toConfigNode(node: Node, shift: number): ConfigNode {
  const offset = node.offset + shift;
  if (node.type === "array")
    return {
      kind: "array",
      offset,
      items: (node.children ?? []).map((item) => toConfigNode(item, shift)),
    };
  if (node.type !== "object") return { kind: "scalar", offset, value: node.value as string };
  const entries: ConfigEntry[] = [];
  const seen = new Set<string>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name = key.value as string;
    if (seen.has(name))
      throw new ConfigSyntaxError(`the key "${name}" stands twice`, key.offset + shift);
    seen.add(name);
    entries.push({ key: name, keyOffset: key.offset + shift, node: toConfigNode(value, shift) });
  }
  return { kind: "object", offset, entries };
}

function wordsFor(code: string): string {
  const words: Record<string, string> = {
    InvalidSymbol: "a value, a double-quoted text or a bracket should stand here",
    InvalidNumberFormat: "this is not a number",
    PropertyNameExpected: "a double-quoted key should stand here",
    ValueExpected: "a value should stand here",
    ColonExpected: "a colon should stand here",
    CommaExpected: "a comma should stand here",
    CloseBraceExpected: "a closing brace is missing",
    CloseBracketExpected: "a closing bracket is missing",
    EndOfFileExpected: "nothing may follow the configuration",
    InvalidCommentToken: "comments are allowed in .jsonc only",
    UnexpectedEndOfComment: "the comment does not end",
    UnexpectedEndOfString: "the text does not end",
    UnexpectedEndOfNumber: "the number does not end",
    InvalidUnicode: "this is not a Unicode escape",
    InvalidEscapeCharacter: "this escape is not known",
    InvalidCharacter: "this character must be escaped",
  };
  return words[code] ?? code;
}
