import { DURATION } from "../src/diagnostics/text.ts";
import { anchorOf } from "./anchor.ts";
import {
  type Field,
  GUARD_FIELDS,
  type Json,
  LISTED_FIELDS,
  LIST_FIELDS,
  PUBLIC_SCHEMA,
  RECOMMENDED,
  RECOMMENDED_WORD,
  SOURCE_FIELDS,
} from "../src/config/fields.ts";
import { FORMAT_NAMES, OUTPUT_FORMATS } from "../src/config/outputs.ts";
import { FEEDS } from "../src/config/sources.ts";
import { TRANSFORMATION_NAMES } from "../src/engine/plan.ts";
import { nameFormats } from "../src/formats/formats.ts";
import { transformationRegistry } from "../src/transformations/registry.ts";
import { type Fields, SITE, defaultValue, keyOf, plainText, withSiteLinks } from "./keys.ts";

/** The definitions of entries whose key is a plural; others are called like their key. */
const SINGULAR: Readonly<Record<string, string>> = {
  outputs: "output",
  resolvers: "resolver",
  after: "hook",
};

/** What editors offer for an entry of a list, with places to fill in. */
const SNIPPETS: Readonly<Record<string, readonly (readonly [label: string, body: Json])[]>> = {
  sources: [
    ["source", { name: "${1:Name}", source: "${2:https://example.org/hosts.txt}" }],
    ["own rules", { name: "Own rules", source: "${1:own.txt}" }],
    [
      "feed",
      { name: "${1:Name}", source: "${2:https://example.org/feed.csv}", type: "${3:urlhaus}" },
    ],
  ],
  outputs: [["output", { format: "${1:unbound}" }]],
  lists: [["list", { name: "${1:Name}", sources: ["${2:Name of a source}"] }]],
  resolvers: [["resolver", { name: "${1:home}", address: "${2:192.0.2.53}" }]],
  after: [["reload a resolver", { reload: "${1:unbound}" }]],
};

/** The JSON Schema of a configuration, for editors. The site publishes it at its \`$id\`, and the package as rules-compiler/schema.json. */
export function jsonSchema(): string {
  return `${JSON.stringify(new Schema().root(), undefined, 2)}\n`;
}

/**
 * Draft 7, which editors support best. Each table of fields is one definition, however many keys have it; keys that lists inherit are
 * those of `list`.
 */
class Schema {
  private readonly definitions: Record<string, object> = {};

  root(): object {
    this.definitions["source"] = this.object(SOURCE_FIELDS);
    this.definitions["list"] = this.object(LISTED_FIELDS);
    const own = Object.entries<Field>(LIST_FIELDS).map(([key, field]) => {
      const isInherited = Object.hasOwn(LISTED_FIELDS, key) && key !== "sources";
      return [
        key,
        isInherited ? { $ref: `#/definitions/list/properties/${key}` } : this.property(key, field),
      ] as const;
    });
    const body = {
      name: "${1:My list}",
      sources: [{ name: "${2:Name}", source: "${3:https://example.org/hosts.txt}" }],
      transformations: RECOMMENDED_WORD,
    };
    return {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: PUBLIC_SCHEMA,
      title: "rules-compiler configuration",
      ...described(
        `Sources, and the list that is made of them. [Reference](${SITE}reference/configuration)`,
      ),
      type: "object",
      required: ["name", "sources"],
      properties: Object.fromEntries(own),
      additionalProperties: false,
      defaultSnippets: [{ label: "configuration", description: "A list of one source", body }],
      definitions: this.definitions,
    };
  }

  private object(fields: Fields): object {
    const keys = Object.keys(fields);
    const required = keys.filter((key) => fields[key]!.required === true);
    return {
      type: "object",
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(keys.map((key) => [key, this.property(key, fields[key]!)])),
      additionalProperties: false,
    };
  }

  private reference(key: string, fields: Fields): object {
    if (fields === LISTED_FIELDS) return { $ref: "#/definitions/list" };
    const name = SINGULAR[key] ?? key;
    const schema = this.object(fields);
    const known = this.definitions[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two definitions are called ${name}`);
    this.definitions[name] = schema;
    return { $ref: `#/definitions/${name}` };
  }

  private property(key: string, field: Field): object {
    const { description, example, default: text } = field;
    const value = defaultValue(field);
    const link = `[Reference](${SITE}reference/configuration#${anchorOf(keyOf(field).path)})`;
    const parts = [description, ...(text === undefined ? [] : [`Default: ${text}.`]), link];
    return {
      ...described(parts.join("\n\n"), description),
      ...this.type(key, field),
      ...(value !== undefined && { default: value }),
      examples: [example],
    };
  }

  private type(key: string, field: Field): object {
    const { type, required, values = {}, most, fields, plain } = field;
    const text = { type: "string", minLength: 1 };
    switch (type) {
      case "string":
      case "source":
        return required === true ? text : { type: "string" };
      case "strings":
      case "entries":
        return listOf({ type: "string" });
      case "string-or-list":
        return { oneOf: [{ type: "string" }, listOf({ type: "string" })] };
      case "transformations":
        return {
          oneOf: [
            choiceOf({ [RECOMMENDED_WORD]: RECOMMENDED.join(", ") }),
            listOf(choiceOf(TRANSFORMATIONS)),
          ],
        };
      case "source-type":
        return choiceOf({ ...textsOf(FORMAT_NAMES), ...FEEDS });
      case "column":
        return { oneOf: [text, { type: "integer", minimum: 1, maximum: 999 }] };
      case "matches": {
        const types = ["string", "number", "boolean"].map((one) => ({ type: one }));
        return { type: "object", additionalProperties: { oneOf: types } };
      }
      case "number":
        return most === undefined
          ? { type: "number", minimum: 0 }
          : { type: "integer", minimum: 0, maximum: most };
      case "guards":
        return { allOf: [this.reference(key, GUARD_FIELDS)] };
      case "boolean":
        return { type: "boolean" };
      case "duration":
        return { type: "string", pattern: DURATION };
      case "size":
        return {
          oneOf: [
            { type: "string", pattern: "^\\d{1,12}[kKmMgG]?(i?[bB])?$" },
            { type: "integer", minimum: 1 },
          ],
        };
      case "format":
        return choiceOf(textsOf(OUTPUT_FORMATS));
      case "choice":
        return choiceOf(values);
      case "answer": {
        const words = Object.entries(values).filter(([value]) => !value.startsWith("{"));
        return {
          oneOf: [
            choiceOf(Object.fromEntries(words)),
            onlyKey("address", { ...listOf(text), minItems: 1 }),
            onlyKey("cname", text),
            { type: "null", description: "The word null: YAML reads it without quotes as this" },
          ],
        };
      }
      case "choices":
        return listOf(choiceOf(values));
      case "object":
        return { allOf: [this.reference(key, fields!)] };
      case "objects": {
        const entry = this.reference(key, fields!);
        return listOf(withSnippets(key, plain === undefined ? [entry] : [entry, text]));
      }
      case "sources":
        return { ...listOf(withSnippets(key, [SOURCE, text])), minItems: 1 };
      case "files":
        return listOf({ oneOf: [SOURCE, text] });
    }
  }
}

const SOURCE = { $ref: "#/definitions/source" };

const TRANSFORMATIONS: Readonly<Record<string, string>> = Object.fromEntries(
  TRANSFORMATION_NAMES.map((name) => [name, transformationRegistry.get(name)!.summary]),
);

function textsOf(formats: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    formats.map((name) => [name, nameFormats.get(name)!.summary.replace(/\.$/, "")]),
  );
}

/** A text for every editor, and one with links for those that show Markdown. */
function described(markdown: string, text = markdown): object {
  return { description: plainText(text), markdownDescription: withSiteLinks(markdown) };
}

function onlyKey(name: string, value: object): object {
  return {
    type: "object",
    properties: { [name]: value },
    required: [name],
    additionalProperties: false,
  };
}

function listOf(items: object): object {
  return { type: "array", items };
}

/** Some of several values, each with its meaning. */
function choiceOf(values: Readonly<Record<string, string>>): object {
  const meanings = Object.values(values);
  return {
    type: "string",
    enum: Object.keys(values),
    enumDescriptions: meanings.map(plainText),
    markdownEnumDescriptions: meanings.map(withSiteLinks),
  };
}

function withSnippets(key: string, forms: readonly object[]): object {
  const snippets = SNIPPETS[key]?.map(([label, body]) => ({ label, body }));
  return {
    ...(forms.length === 1 ? { allOf: forms } : { oneOf: forms }),
    ...(snippets !== undefined && { defaultSnippets: snippets }),
  };
}
