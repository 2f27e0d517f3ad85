/** The one name that a pattern is for: the name itself, everything below it, or both. */
export interface NameScope {
  readonly name: string;
  readonly self: boolean;
  readonly below: boolean;
}

const NAME = "(?<name>[^*|^/\\s]+)";
const SHAPES: readonly (readonly [RegExp, Omit<NameScope, "name">])[] = [
  [new RegExp(`^\\|\\|${NAME}\\^[|^]*$`), { self: true, below: true }],
  [new RegExp(`^\\|${NAME}[|^]+$`), { self: true, below: false }],
  [new RegExp(`^(?:\\|\\|)?\\*?\\.${NAME}[|^]+$`), { self: false, below: true }],
];

/** Reads a pattern; undefined when it is for more than one name and what is below it. */
export function nameScope(pattern: string): NameScope | undefined {
  for (const [shape, scope] of SHAPES) {
    const name = shape.exec(pattern)?.groups?.["name"];
    if (name !== undefined && !name.startsWith(".") && !name.endsWith("."))
      return { name, ...scope };
  }
  return undefined;
}
