/** A configuration as a tree with the offset of each part in the file: common to JSON, JSONC and YAML. */
export type ConfigNode =
  | { readonly kind: "object"; readonly offset: number; readonly entries: readonly ConfigEntry[] }
  | { readonly kind: "array"; readonly offset: number; readonly items: readonly ConfigNode[] }
  | {
      readonly kind: "scalar";
      readonly offset: number;
      readonly value: string | number | boolean | null;
    };

export interface ConfigEntry {
  readonly key: string;
  readonly keyOffset: number;
  readonly node: ConfigNode;
}

/** A syntax error, its offset, and what to do about it. */
export class ConfigSyntaxError extends Error {
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(message: string, offset: number, hint?: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

/** More than any real configuration needs; protects against bombs. */
export const MAX_DEPTH = 32;
export const MAX_NODES = 100_000;

/** The tree of a configuration that is an object, not a file. */
export function nodeOfValue(value: unknown, depth = 0): ConfigNode {
  if (depth > MAX_DEPTH) throw new ConfigSyntaxError("it is nested too deeply", 0);
  if (Array.isArray(value))
    return { kind: "array", offset: 0, items: value.map((item) => nodeOfValue(item, depth + 1)) };
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return {
      kind: "object",
      offset: 0,
      entries: entries.map(([key, item]) => ({
        key,
        keyOffset: 0,
        node: nodeOfValue(item, depth + 1),
      })),
    };
  }
  // Values that JSON lacks (functions, symbols) become null, which validation rejects.
  const isScalar = value === null || ["string", "number", "boolean"].includes(typeof value);
  return { kind: "scalar", offset: 0, value: isScalar ? (value as string) : null };
}
