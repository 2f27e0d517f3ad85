/** A schema of `documents.schema.json`. Other keywords do not occur in it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const KEYWORDS: ReadonlySet<string> = new Set(
  "$schema title description $ref type const enum items anyOf properties required additionalProperties $defs".split(
    " ",
  ),
);

/** What is wrong with a value, each with its place. Throws an error for a keyword that it does not know. */
export function schemaFaults(
  value: unknown,
  schema: Schema,
  root: Schema,
  place = "document",
): string[] {
  for (const keyword of Object.keys(schema))
    if (!KEYWORDS.has(keyword)) throw new Error(`unknown keyword: ${keyword}`);
  const faultsIn = (part: unknown, own: Schema, where: string): string[] =>
    schemaFaults(part, own, root, where);
  if (schema.$ref !== undefined)
    return faultsIn(value, root.$defs![schema.$ref.slice("#/$defs/".length)]!, place);
  if (schema.anyOf !== undefined) {
    const all = schema.anyOf.map((one) => faultsIn(value, one, place));
    return all.some((faults) => faults.length === 0)
      ? []
      : all.toSorted((a, b) => a.length - b.length)[0]!;
  }
  const values = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  if (values !== undefined)
    return values.includes(value) ? [] : [`${place} is ${JSON.stringify(value)}`];
  const { type, items, properties = {}, required = [], additionalProperties } = schema;
  if (type !== undefined && !isOf(type, value)) return [`${place} is not a ${type}`];
  if (Array.isArray(value))
    return value.flatMap((one, index) => faultsIn(one, items ?? {}, `${place}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return [
    ...required
      .filter((key) => !Object.hasOwn(value, key))
      .map((key) => `${place}.${key} is missing`),
    ...Object.entries(value).flatMap(([key, part]) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      if (own === false) return [`${place}.${key} is not in the schema`];
      return faultsIn(part, own ?? {}, `${place}.${key}`);
    }),
  ];
}

function isOf(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object")
    return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}
