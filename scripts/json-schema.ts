import { TRANSFORMATION_NAMES } from "../src/engine/plan.ts";
import {
  type Field,
  LIST_FIELDS,
  SOURCE_FIELDS,
  SOURCE_TYPES,
  TRUST_LEVELS,
} from "../src/config/fields.ts";
import { GUARD_FIELDS } from "../src/config/guard-fields.ts";
import { DURATION } from "../src/config/duration.ts";
import { OUTPUT_FORMATS } from "../src/config/output-fields.ts";

/** The JSON Schema of a configuration, for editors; it is published as rules-compiler/schema.json. */
export function jsonSchema(): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "rules-compiler configuration",
    ...objectSchema(LIST_FIELDS),
    $defs: { source: objectSchema(SOURCE_FIELDS) },
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function objectSchema(fields: Readonly<Record<string, Field>>): object {
  const entries = Object.entries(fields);
  return {
    type: "object",
    required: entries.filter(([, field]) => field.required === true).map(([name]) => name),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, propertySchema(field)])),
    additionalProperties: false,
  };
}

function propertySchema(field: Field): object {
  const { description, example } = field;
  return {
    description,
    ...typeSchema(field),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

function typeSchema({ type, required, values, most, fields, plain }: Field): object {
  switch (type) {
    case "string":
    case "source":
      return { type: "string", ...(required === true ? { minLength: 1 } : {}) };
    case "strings":
    case "entries":
      return { type: "array", items: { type: "string" } };
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
      return objectSchema(GUARD_FIELDS);
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
      return objectSchema(fields!);
    case "objects":
      return {
        type: "array",
        items:
          plain === undefined
            ? objectSchema(fields!)
            : { anyOf: [{ type: "string", minLength: 1 }, objectSchema(fields!)] },
      };
    case "sources":
      return { type: "array", minItems: 1, items: { $ref: "#/$defs/source" } };
  }
}
