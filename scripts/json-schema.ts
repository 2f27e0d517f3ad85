import {
  type Field,
  GUARD_FIELDS,
  LISTED_FIELDS,
  LIST_FIELDS,
  SOURCE_FIELDS,
  SOURCE_TYPES,
  TRUST_LEVELS,
} from "../src/config/fields.ts";
import { OUTPUT_FORMATS } from "../src/config/outputs.ts";
import { DURATION } from "../src/config/units.ts";
import { TRANSFORMATION_NAMES } from "../src/engine/plan.ts";

type Fields = Readonly<Record<string, Field>>;

/** The definitions of entries whose key is a plural; others are called like their key. */
const SINGULAR: Readonly<Record<string, string>> = {
  lists: "list",
  outputs: "output",
  resolvers: "resolver",
  after: "hook",
};

/** The JSON Schema of a configuration, for editors; it is published as rules-compiler/schema.json. */
export function jsonSchema(): string {
  return `${JSON.stringify(new Schema().root(), undefined, 2)}\n`;
}

/** Each table of fields is one definition, however many keys have it. */
class Schema {
  private readonly definitions: Record<string, object> = {};

  root(): object {
    const shared: Fields = { ...LISTED_FIELDS, sources: LIST_FIELDS.sources };
    const entries = Object.entries<Field>(LIST_FIELDS);
    const own = Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(shared, key)));
    const list = { $ref: "#/$defs/list" };
    const { required, properties } = this.object(own);
    this.definitions["source"] = this.closed(SOURCE_FIELDS);
    this.definitions["list"] = this.object(shared, ["name"]);
    return {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "rules-compiler configuration",
      ...list,
      required: [...required, "sources"],
      properties,
      unevaluatedProperties: false,
      $defs: this.definitions,
    };
  }

  private object(
    fields: Fields,
    required: readonly string[] = Object.keys(fields).filter((key) => fields[key]!.required),
  ): { readonly type: string; readonly required: readonly string[]; readonly properties: object } {
    const entries = Object.entries(fields);
    return {
      type: "object",
      required,
      properties: Object.fromEntries(
        entries.map(([key, field]) => [key, this.property(key, field)]),
      ),
    };
  }

  private closed(fields: Fields): object {
    return { ...this.object(fields), additionalProperties: false };
  }

  private reference(key: string, fields: Fields): object {
    const name = SINGULAR[key] ?? key;
    if (fields === LISTED_FIELDS) return { $ref: "#/$defs/list", unevaluatedProperties: false };
    const schema = this.closed(fields);
    const known = this.definitions[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two definitions are called ${name}`);
    this.definitions[name] = schema;
    return { $ref: `#/$defs/${name}` };
  }

  private property(key: string, field: Field): object {
    const { description, example } = field;
    return {
      description,
      ...this.type(key, field),
      ...(example === undefined ? {} : { examples: [example] }),
    };
  }

  private type(key: string, { type, required, values, most, fields, plain }: Field): object {
    switch (type) {
      case "string":
      case "source":
        return { type: "string", ...(required === true ? { minLength: 1 } : {}) };
      case "strings":
      case "entries":
        return { type: "array", items: { type: "string" } };
      case "string-or-list":
        return { type: ["string", "array"], items: { type: "string" } };
      case "transformations":
        return { type: "array", items: { enum: TRANSFORMATION_NAMES } };
      case "source-type":
        return { enum: SOURCE_TYPES };
      case "column":
        return { type: ["string", "integer"], minLength: 1, minimum: 1, maximum: 999 };
      case "matches":
        return { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };
      case "trust":
        return { enum: TRUST_LEVELS };
      case "number":
        return most === undefined
          ? { type: "number", minimum: 0 }
          : { type: "integer", minimum: 0, maximum: most };
      case "guards":
        return this.reference(key, GUARD_FIELDS);
      case "boolean":
        return { type: "boolean" };
      case "duration":
        return { type: "string", pattern: DURATION };
      case "size":
        return { type: ["string", "integer"], pattern: "^\\d{1,12}[kKmMgG]?(i?[bB])?$" };
      case "format":
        return { enum: OUTPUT_FORMATS };
      case "choice":
        return { enum: values };
      case "choices":
        return { type: "array", items: { enum: values } };
      case "object":
        return this.reference(key, fields!);
      case "objects":
        return {
          type: "array",
          items:
            plain === undefined
              ? this.reference(key, fields!)
              : { anyOf: [{ type: "string", minLength: 1 }, this.reference(key, fields!)] },
        };
      case "sources":
        return { ...FILES, minItems: 1 };
      case "files":
        return FILES;
    }
  }
}

/** Sources, and files of names: a text is a URL or a path. */
const FILES = {
  type: "array",
  items: { anyOf: [{ type: "string", minLength: 1 }, { $ref: "#/$defs/source" }] },
} as const;
