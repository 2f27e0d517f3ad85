/** The one name that a pattern matches: the name itself, its subdomains, or both. */
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

/** Parses a pattern; undefined if it matches more than one name and its subdomains. */
export function nameScope(pattern: string): NameScope | undefined {
  for (const [shape, scope] of SHAPES) {
    const name = shape.exec(pattern)?.groups?.["name"];
    if (name !== undefined && !name.startsWith(".") && !name.endsWith("."))
      return { name, ...scope };
  }
  return undefined;
}
