import { Document, isScalar, visit } from "yaml";
import {
  type Field,
  GUARD_FIELDS,
  type Json,
  LISTED_ONLY_FIELDS,
  LIST_FIELDS,
  PUBLIC_SCHEMA,
  SOURCE_FIELDS,
} from "../src/config/fields.ts";

/**
 * The keys of a configuration, with what the reference and the schema say about them. Both are made from the tables of fields in
 * `src/config`.
 */

export type Fields = Readonly<Record<string, Field>>;

/** A key at a place of the configuration. */
export interface Key {
  /** `sources[].auth.bearer_file` */
  readonly path: string;
  readonly field: Field;
  /** A configuration that has the key, without what only other keys need. */
  readonly example: Readonly<Record<string, Json>>;
}

/** A place with keys. */
interface Place {
  readonly path: string;
  /** The configuration that has these settings there. */
  readonly around: (own: Record<string, Json>) => Record<string, Json>;
}

/** Each field once, at the first place that has it, in the order of the page: a table, then those below it. */
function allKeys(): Map<Field, Key> {
  const keys = new Map<Field, Key>();
  const enter = (fields: Fields, place: Place): void => {
    const later: (() => void)[] = [];
    for (const [name, field] of Object.entries(fields)) {
      const isOfOutput = place.path.startsWith("outputs[].");
      if (field.of !== undefined && (field.of === "output") !== isOfOutput) continue;
      const path = place.path + name;
      if (!keys.has(field))
        keys.set(field, { path, field, example: exampleOf(name, { field, fields, place }) });
      const inner = innerOf(field);
      if (inner === undefined) continue;
      const isList = field.type === "objects" || field.type === "sources";
      const around = (own: Record<string, Json>): Record<string, Json> =>
        place.around(withSiblings(name, { field, fields }, isList ? [own] : own));
      const go = (): void => enter(inner, { path: `${path}${isList ? "[]" : ""}.`, around });
      if (field.type === "object") go();
      else later.push(go);
    }
    for (const go of later) go();
  };
  enter(LIST_FIELDS, { path: "", around: (own) => own });
  return keys;
}

/** The table of the keys below a key. */
function innerOf(field: Field): Fields | undefined {
  if (field.type === "sources") return SOURCE_FIELDS;
  if (field.type === "guards") return GUARD_FIELDS;
  return field === LIST_FIELDS.lists ? LISTED_ONLY_FIELDS : field.fields;
}

/** A key with the settings beside it that its example needs, in the order of the table. */
function withSiblings(
  name: string,
  { field, fields }: { field: Field; fields: Fields },
  value: Json,
): Record<string, Json> {
  const { beside = {} } = field;
  const all = Object.entries(fields).flatMap(([key, { required, example }]): [string, Json][] => {
    if (key === name) return [[key, value]];
    if (Object.hasOwn(beside, key)) return [[key, beside[key]!]];
    // At the top level, name and sources are taken for granted.
    return required === true && fields !== LIST_FIELDS ? [[key, example]] : [];
  });
  const inherited = Object.entries(beside).filter(([key]) => !Object.hasOwn(fields, key));
  return Object.fromEntries([...inherited, ...all]);
}

function exampleOf(
  name: string,
  { field, fields, place }: { field: Field; fields: Fields; place: Place },
): Record<string, Json> {
  const own = place.around(withSiblings(name, { field, fields }, field.example));
  const all: Record<string, Json> = { ...field.needs };
  for (const [key, value] of Object.entries(own)) {
    const known = all[key];
    all[key] = Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value;
  }
  return all;
}

const KEYS: ReadonlyMap<Field, Key> = allKeys();
export const ALL_KEYS: readonly Key[] = [...KEYS.values()];

/** The key that describes a field. Lists, sources and outputs share some. */
export function keyOf(field: Field): Key {
  return KEYS.get(field)!;
}

/** The value of a default that is nothing but code. */
export function defaultValue({ default: text }: Field): Json | undefined {
  const [, code] = /^`([^`]+)`$/.exec(text ?? "") ?? [];
  if (code === undefined) return undefined;
  if (/^(?:true|false|\d+(?:\.\d+)?)$/.test(code)) return JSON.parse(code) as Json;
  const [, items] = /^\[([\w, -]+)\]$/.exec(code) ?? [];
  return items === undefined ? code : items.split(", ");
}

/** An example as people write it: short lists in one line. */
export function yamlText(value: Json): string {
  const document = new Document(value);
  visit(document, {
    Seq: (_, node) => {
      const length = node.items.reduce<number>(
        (sum, item) => sum + (isScalar(item) ? String(item.value).length + 2 : Infinity),
        0,
      );
      node.flow = length < 60;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** Where the pages of the documentation are. */
export const SITE: string = new URL(".", PUBLIC_SCHEMA).href;

/** Markdown of a reference page with absolute links, for editors. */
export function withSiteLinks(markdown: string): string {
  return markdown.replaceAll(/\]\(([^):]*)\)/g, (_, target: string) => {
    const url = new URL(
      target === "" || target.startsWith("#") ? `configuration${target}` : target,
      `${SITE}reference/`,
    );
    return `](${url.href.replace(/\.md(?=#|$)/, "")})`;
  });
}

/** Markdown as plain text. */
export function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
}
