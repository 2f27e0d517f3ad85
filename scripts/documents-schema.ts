import { readFileSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";
import { CODES } from "../src/diagnostics/codes.ts";
import { FATES } from "../src/rules/fate.ts";

/** A node of a syntax tree, with the fields that types have. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly name?: string;
  readonly value?: unknown;
  readonly operator?: string;
  readonly optional?: boolean;
  readonly id?: Node;
  readonly key?: Node;
  readonly literal?: Node;
  readonly expression?: Node;
  readonly typeName?: Node;
  readonly elementType?: Node;
  readonly typeAnnotation?: Node;
  readonly declaration?: Node | null;
  readonly typeArguments?: { readonly params: readonly Node[] } | null;
  readonly types?: readonly Node[];
  readonly members?: readonly Node[];
  readonly extends?: readonly Node[];
  readonly body?: Node | readonly Node[];
}

export interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
}

interface Declared {
  readonly node: Node;
  readonly description: string | undefined;
  readonly text: string;
}

const FILES = ["documents/documents.ts", "documents/facts.ts", "diagnostics/render.ts"];

/** Types whose values are in tables, not in types. */
const TABLES: Readonly<Record<string, Schema>> = {
  Code: { enum: Object.keys(CODES) },
  Exit: { type: "integer" },
  FateName: { enum: FATES.map(([name]) => name) },
};

const KEYWORDS: Readonly<Record<string, Schema>> = {
  TSStringKeyword: { type: "string" },
  TSNumberKeyword: { type: "number" },
  TSBooleanKeyword: { type: "boolean" },
  TSNullKeyword: { type: "null" },
  TSUnknownKeyword: {},
};

/** The JSON Schema of every document: `#/properties/plan` is what `plan` prints. Published as rules-compiler/documents.schema.json. */
export function documentsSchema(): string {
  return `${JSON.stringify(schemaOfDocuments(), undefined, 1)}\n`;
}

export function schemaOfDocuments(): Schema & { readonly $defs: Readonly<Record<string, Schema>> } {
  return new DocumentTypes().root();
}

/** The types in `src/documents` as schemas. Throws an error for a form that it does not know. */
class DocumentTypes {
  private readonly declared = new Map<string, Declared>();
  private readonly definitions: Record<string, Schema> = {};

  constructor() {
    for (const file of FILES) {
      const text = readFileSync(`${import.meta.dirname}/../src/${file}`, "utf8");
      for (const statement of (parseAst(text, { lang: "ts" }) as unknown as Node)
        .body as readonly Node[]) {
        const node = statement.declaration;
        const name = node?.id?.name;
        if (node && name !== undefined && /^TS(?:Interface|TypeAlias)/.test(node.type))
          this.declared.set(name, { node, text, description: commentBefore(statement, text) });
      }
    }
  }

  root(): Schema & { readonly $defs: Readonly<Record<string, Schema>> } {
    const { description = "", ...documents } = this.named("Documents");
    return {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Documents of rules-compiler",
      description,
      ...documents,
      $defs: this.definitions,
    } as Schema & { $defs: Readonly<Record<string, Schema>> };
  }

  private named(name: string): Schema {
    const found = this.declared.get(name);
    if (found === undefined) throw new Error(`${name} is not in ${FILES.join(", ")}`);
    const { node, text, description } = found;
    const schema =
      node.type === "TSInterfaceDeclaration"
        ? this.objectOf(node, text)
        : this.schemaOf(node.typeAnnotation!, text);
    return description === undefined ? schema : { description, ...schema };
  }

  private reference(name: string): Schema {
    const table = TABLES[name];
    if (table !== undefined) return table;
    if (!Object.hasOwn(this.definitions, name)) {
      // A type may refer to itself.
      this.definitions[name] = {};
      this.definitions[name] = this.named(name);
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** An interface, with the fields of those that it extends. */
  private objectOf(node: Node, text: string): Schema {
    const parents = (node.extends ?? []).map((one) =>
      this.fieldsOf({ ...one, type: "TSTypeReference", typeName: one.expression! }, text),
    );
    return merged([...parents, this.membersOf((node.body as Node).body as readonly Node[], text)]);
  }

  private membersOf(members: readonly Node[], text: string): Schema {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const member of members) {
      const name = member.key?.name ?? String(member.key?.value);
      const annotation = member.typeAnnotation!.typeAnnotation!;
      const description = commentBefore(member, text);
      const isOptional =
        member.optional === true ||
        (annotation.types ?? []).some(({ type }) => type === "TSUndefinedKeyword");
      const schema = this.schemaOf(annotation, text);
      properties[name] = description === undefined ? schema : { description, ...schema };
      if (!isOptional) required.push(name);
    }
    return { type: "object", properties, required, additionalProperties: false };
  }

  /** The fields of an object type. */
  private fieldsOf(node: Node, text: string): Schema {
    const [first, second] = node.typeArguments?.params ?? [];
    const name = node.typeName?.name ?? "";
    if (name === "Partial") return { ...this.fieldsOf(first!, text), required: [] };
    if (name === "Omit" || name === "Pick") {
      const names = new Set((second!.types ?? [second!]).map(({ literal }) => literal?.value));
      const isKept = (key: string): boolean => names.has(key) === (name === "Pick");
      const { properties = {}, required = [], ...rest } = this.fieldsOf(first!, text);
      const kept = Object.entries(properties).filter(([key]) => isKept(key));
      return { ...rest, properties: Object.fromEntries(kept), required: required.filter(isKept) };
    }
    if (node.type === "TSTypeLiteral") return this.membersOf(node.members!, text);
    if (node.type === "TSIntersectionType")
      return merged(node.types!.map((one) => this.fieldsOf(one, text)));
    const { description: _own, ...schema } = this.named(name);
    return schema;
  }

  private schemaOf(node: Node, text: string): Schema {
    const keyword = KEYWORDS[node.type];
    if (keyword !== undefined) return keyword;
    switch (node.type) {
      case "TSLiteralType":
        return { const: node.literal!.value };
      case "TSTypeOperator":
      case "TSParenthesizedType":
        return this.schemaOf(node.typeAnnotation!, text);
      case "TSArrayType":
        return { type: "array", items: this.schemaOf(node.elementType!, text) };
      case "TSTypeLiteral":
      case "TSIntersectionType":
        return this.fieldsOf(node, text);
      case "TSUnionType":
        return unionOf(
          node
            .types!.filter(({ type }) => type !== "TSUndefinedKeyword")
            .map((one) => this.schemaOf(one, text)),
        );
      case "TSTypeReference":
        return this.referenceOf(node, text);
      default:
        throw new Error(`a document cannot have a type of the form ${node.type}`);
    }
  }

  private referenceOf(node: Node, text: string): Schema {
    const [first, second] = node.typeArguments?.params ?? [];
    switch (node.typeName!.name ?? "") {
      case "Readonly":
        return this.schemaOf(first!, text);
      case "Partial":
        return first!.typeName?.name === "Record"
          ? this.schemaOf(first!, text)
          : this.fieldsOf(node, text);
      case "Record":
        return { type: "object", additionalProperties: this.schemaOf(second!, text) };
      case "Omit":
      case "Pick":
        return this.fieldsOf(node, text);
      default:
        return this.reference(node.typeName!.name!);
    }
  }
}

/** The sentences of a comment, in one line. */
function commentBefore({ start }: Node, text: string): string | undefined {
  const comment = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*$/.exec(text.slice(0, start))?.[1];
  return comment?.replaceAll(/\s*\n\s*\*\s?/g, " ").trim();
}

function unionOf(all: readonly Schema[]): Schema {
  const values = all.map((one) => one.enum ?? (Object.hasOwn(one, "const") ? [one.const] : []));
  if (values.every((some) => some.length > 0)) return { enum: [...new Set(values.flat())] };
  return all.length === 1 ? all[0]! : { anyOf: all };
}

/** One object with the fields of several; the last one decides. */
function merged(all: readonly Schema[]): Schema {
  const properties = Object.assign({}, ...all.map((one) => one.properties)) as Record<
    string,
    Schema
  >;
  const required = [...new Set(all.flatMap((one) => one.required ?? []))];
  return { type: "object", properties, required, additionalProperties: false };
}

/** The page about documents: the fields of each type. Those with a question mark may be absent. */
export function documentsPage(notice: string): string {
  const { description, properties = {}, $defs } = schemaOfDocuments();
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `- \`${name}\`: ${typeText(schema)}${schema.description === undefined ? "" : `. ${schema.description}`}`,
  );
  const sections = Object.entries($defs)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `### ${name}\n\n${sectionOf(schema)}`);
  return `${notice}

# Documents

${description?.replace(/ `scripts[^]*?only\. /, " ")}

The [JSON Schema](https://json-schema.org) of all documents is \`rules-compiler/documents.schema.json\` in the package. \`#/properties/plan\` in it is what \`plan --json\` prints.

${rows.join("\n")}

A list that cannot be asked about is a [FailedList](#failedlist) among the others. A document is one line; \`why -\` and \`stats --fate NAME\` print one document per line.

## Types

${sections.join("\n\n")}
`;
}

function sectionOf({ description, ...schema }: Schema): string {
  const about = description === undefined ? "" : `${description}\n\n`;
  if (schema.properties === undefined) return `${about}${typeText(schema)}`;
  const { required = [] } = schema;
  const rows = Object.entries(schema.properties).map(
    ([name, field]) =>
      `- \`${name}\`${required.includes(name) ? "" : "?"}: ${typeText(field)}${field.description === undefined ? "" : `. ${field.description}`}`,
  );
  return `${about}${rows.join("\n")}`;
}

function typeText(schema: Schema): string {
  const { $ref, type, items, anyOf, enum: values, additionalProperties, properties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1)!;
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (Object.hasOwn(schema, "const")) return `\`${JSON.stringify(schema.const)}\``;
  if (values === TABLES["Code"]!.enum) return "a [code](errors.md)";
  if (values === TABLES["FateName"]!.enum) return "a [fate](fates.md)";
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  if (anyOf !== undefined) return anyOf.map(typeText).join(" or ");
  if (items !== undefined) return `list of ${typeText(items)}`;
  if (additionalProperties) return `object of ${typeText(additionalProperties)}`;
  if (properties === undefined) return type ?? "anything";
  const fields = Object.entries(properties).map(([key, field]) => `\`${key}\`: ${typeText(field)}`);
  return `object with ${fields.join("; ")}`;
}
