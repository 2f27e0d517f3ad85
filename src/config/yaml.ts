import {
  type Document,
  type Node,
  type YAMLError,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
} from "yaml";
import {
  type ConfigEntry,
  type ConfigNode,
  ConfigSyntaxError,
  MAX_DEPTH,
  MAX_NODES,
} from "./problems.ts";

/** Parses YAML 1.2. Anchors work within a limit on the expanded size. */
export function parseYaml(text: string): ConfigNode {
  checkFlowDepth(text);
  const document = parseOrRefuse(text);
  if (document.errors.length > 0) throw syntaxErrorOf(document.errors, text);
  if (document.contents === null)
    throw new ConfigSyntaxError("the file is empty", 0, "Remove it, then: rules-compiler init");
  return new TreeBuilder().build(document.contents, 0);
}

function parseOrRefuse(text: string): Document.Parsed {
  try {
    return parseDocument(text, { prettyErrors: false, uniqueKeys: true, logLevel: "error" });
  } catch (error) {
    // The parser is recursive; indentation alone can overflow its stack.
    if (error instanceof RangeError) throw new ConfigSyntaxError("it is nested too deeply", 0);
    throw error;
  }
}

function checkFlowDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth = Math.max(0, depth - 1);
    if (depth > 1000) throw new ConfigSyntaxError("it is nested too deeply", at);
  }
}

const INDENT_HINT = "Indent all keys and all dashes of one level by the same number of blanks";

/** Errors about the start of a line. */
const INDENT_CODES: ReadonlySet<string> = new Set(["BAD_INDENT", "TAB_AS_INDENT", "MISSING_CHAR"]);

const ENTRY_HINT =
  "Move it to the other entries of its key, such as sources, and indent it as they are";

function syntaxErrorOf([first, second]: readonly YAMLError[], text: string): ConfigSyntaxError {
  const { code, pos } = first!;
  const message = first!.message.split("\n")[0]!;
  if (code === "BLOCK_AS_IMPLICIT_KEY") {
    // A line that is indented too far continues the value above. The second error ends at its key.
    if (second?.code === "MULTILINE_IMPLICIT_KEY") {
      const at = second.pos[1] - 1;
      const line = text.lastIndexOf("\n", at) + 1;
      const dash = /^ *(?=- )/.exec(text.slice(line))?.[0].length;
      if (dash !== undefined)
        return new ConfigSyntaxError(
          "this entry does not belong to the key above it",
          line + dash,
          ENTRY_HINT,
        );
      return new ConfigSyntaxError(
        "this line is indented more than the one that it belongs with",
        at,
        INDENT_HINT,
      );
    }
    return new ConfigSyntaxError(message, pos[0], 'Quote a string that contains ": "');
  }
  return new ConfigSyntaxError(message, pos[0], INDENT_CODES.has(code) ? INDENT_HINT : undefined);
}

class TreeBuilder {
  /** Nodes by anchor; a later one with the same name replaces it. */
  private readonly anchors = new Map<string, Node>();
  private nodes = 0;

  build(node: Node | null, depth: number): ConfigNode {
    const offset = node?.range?.[0] ?? 0;
    if (++this.nodes > MAX_NODES)
      throw new ConfigSyntaxError("its anchors multiply without bound", offset);
    if (depth > MAX_DEPTH) throw new ConfigSyntaxError("it is nested too deeply", offset);
    if (node === null) return { kind: "scalar", offset, value: null };
    if (isAlias(node)) {
      // The look-up of the library walks the whole document for every alias.
      const target = this.anchors.get(node.source);
      if (target === undefined)
        throw new ConfigSyntaxError(
          `there is no anchor &${node.source}`,
          offset,
          `Quote an entry that begins with *: "*${node.source}"`,
        );
      return this.build(target, depth + 1);
    }
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
    if (isSeq(node)) {
      const items = node.items.map((item) => this.build(item as Node | null, depth + 1));
      return { kind: "array", offset, items };
    }
    if (isMap(node)) return { kind: "object", offset, entries: this.entries(node.items, depth) };
    if (!isScalar(node)) throw new ConfigSyntaxError("this cannot be read", offset);
    const { value } = node;
    if (
      typeof value === "bigint" ||
      value instanceof Date ||
      (typeof value === "object" && value !== null)
    )
      throw new ConfigSyntaxError("this is not a plain value", offset);
    return { kind: "scalar", offset, value: value as string };
  }

  private entries(
    pairs: readonly { key: unknown; value: unknown }[],
    depth: number,
  ): ConfigEntry[] {
    return pairs.map(({ key, value }) => {
      const keyNode = key as Node;
      const keyOffset = keyNode.range?.[0] ?? 0;
      if (!isScalar(keyNode)) throw new ConfigSyntaxError("a key must be a plain text", keyOffset);
      return {
        key: String(keyNode.value),
        keyOffset,
        node: this.build(value as Node | null, depth + 1),
      };
    });
  }
}
