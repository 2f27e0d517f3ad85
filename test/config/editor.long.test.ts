import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { jsonSchema } from "../../scripts/json-schema.ts";
import { ALL_KEYS, SITE, defaultValue } from "../../scripts/keys.ts";
import { CONFIG_NAMES } from "../../src/cli/flags/found-config.ts";
import { SOURCE_FIELDS } from "../../src/config/fields.ts";
import { blocksOf } from "../support/markdown.ts";
import { MemoryProject } from "../support/memory-project.ts";

/** The schema in the language services of editors: those of VS Code for JSON, and of Red Hat's extension for YAML. */

const root = join(import.meta.dirname, "../..");
const tools = createRequire(join(root, "test/tools/package.json"));

interface TextDocument {
  positionAt(offset: number): object;
}

interface Item {
  readonly label: string;
  readonly insertText?: string;
  readonly documentation?: string | { readonly value: string };
}

interface Json {
  configure(settings: object): void;
  parseJSONDocument(document: TextDocument): object;
  doHover(document: TextDocument, at: object, json: object): Promise<{ contents: unknown } | null>;
  doValidation(document: TextDocument, json: object): Promise<{ message: string }[]>;
  doComplete(document: TextDocument, at: object, json: object): Promise<{ items: Item[] }>;
}

interface Yaml {
  configure(settings: object): void;
  doHover(document: TextDocument, at: object): Promise<{ contents: unknown } | null>;
  doValidation(document: TextDocument, isKubernetes: false): Promise<{ message: string }[]>;
  doComplete(document: TextDocument, at: object, isKubernetes: false): Promise<{ items: Item[] }>;
}

interface Service<Kind> {
  getLanguageService(params: object): Kind;
  readonly TextDocument: {
    create(uri: string, kind: string, version: 1, text: string): TextDocument;
  };
}

const forJson = tools("vscode-json-languageservice") as Service<Json>;
const forYaml = (await import(tools.resolve("yaml-language-server"))) as Service<Yaml>;

/** A copy: the services replace references in theirs. */
function schema(): { readonly $id: string } {
  return JSON.parse(jsonSchema()) as { readonly $id: string };
}

const { $id } = schema();
const params = {
  // Nothing is fetched: the schema refers to itself alone.
  schemaRequestService: (uri: string) => Promise.reject(new Error(`asked for ${uri}`)),
  workspaceContext: { resolveRelativePath: (path: string) => path },
  clientCapabilities: {
    textDocument: {
      hover: { contentFormat: ["markdown"] },
      completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
    },
  },
};
const settings = { validate: true, hover: true, completion: true };
const json = forJson.getLanguageService(params);
json.configure({ ...settings, schemas: [{ uri: $id, fileMatch: ["*.json"], schema: schema() }] });
const yaml = forYaml.getLanguageService(params);
yaml.configure({ ...settings, schemas: [{ uri: $id, fileMatch: ["*.yaml"], schema: schema() }] });

let documents = 0;

/** A text with § where the cursor is. */
function opened(kind: "json" | "yaml", text: string): { document: TextDocument; at: object } {
  const { TextDocument } = kind === "json" ? forJson : forYaml;
  const uri = `file:///${++documents}.${kind}`;
  const document = TextDocument.create(uri, kind, 1, text.replace("§", ""));
  return { document, at: document.positionAt(text.indexOf("§")) };
}

async function hoverOf(kind: "json" | "yaml", text: string): Promise<string> {
  const { document, at } = opened(kind, text);
  const hover =
    kind === "json"
      ? await json.doHover(document, at, json.parseJSONDocument(document))
      : await yaml.doHover(document, at);
  const contents = hover?.contents as string[] | { value: string } | undefined;
  return Array.isArray(contents) ? contents.join("\n") : (contents?.value ?? "");
}

async function problemsOf(kind: "json" | "yaml", text: string): Promise<string[]> {
  const { document } = opened(kind, text);
  const found =
    kind === "json"
      ? await json.doValidation(document, json.parseJSONDocument(document))
      : await yaml.doValidation(document, false);
  return found.map(({ message }) => message);
}

async function completionsOf(kind: "json" | "yaml", text: string): Promise<Item[]> {
  const { document, at } = opened(kind, text);
  const { items } =
    kind === "json"
      ? await json.doComplete(document, at, json.parseJSONDocument(document))
      : await yaml.doComplete(document, at, false);
  return items;
}

/** A configuration as text, with the cursor in a key or in its value. */
function withCursor(config: object, key: string, value?: string): string {
  const text = JSON.stringify({ name: "L", sources: ["a.txt"], ...config });
  const [from, to] =
    value === undefined
      ? [`"${key}":`, `"§${key}":`]
      : [`"${key}":${JSON.stringify(value)}`, `"${key}":"§${value}"`];
  const at = text.lastIndexOf(from);
  assert.ok(at !== -1, `${key} in ${text}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

/** What an editor would show as it is written: links of pages, which lead nowhere in an editor. */
const RELATIVE = /\]\((?!https:\/\/)/;

test("hovering over a key shows its description, its default and a link to its heading", async () => {
  const headings = readFileSync(join(root, "docs/reference/configuration.md"), "utf8");
  for (const { path, field, example } of ALL_KEYS) {
    const key = path.split(".").at(-1)!;
    for (const kind of ["json", "yaml"] as const) {
      const shown = await hoverOf(kind, withCursor(example, key));
      const [, target, anchor] = /\[Reference\]\(([^)#]*)#([^)]*)\)/.exec(shown) ?? [];
      assert.equal(target, `${SITE}reference/configuration`, `${kind}: ${path}: ${shown}`);
      assert.ok(headings.includes(`(#${anchor})`), `${path}: ${anchor}`);
      assert.doesNotMatch(shown, RELATIVE, path);
      if (field.required !== true)
        assert.ok(shown.includes(`Default: ${field.default.split("](")[0]!}`), `${path}: ${shown}`);
    }
  }
});

test("hovering over a value shows what it means", async () => {
  const cases: [object, string, string, RegExp][] = ALL_KEYS.flatMap(({ path, field, example }) =>
    field.type === "choice"
      ? Object.entries(field.values ?? {}).map(
          ([value, meaning]): [object, string, string, RegExp] => {
            const key = path.split(".").at(-1)!;
            const own = JSON.parse(
              JSON.stringify(example).replace(
                `"${key}":${JSON.stringify(field.example)}`,
                `"${key}":${JSON.stringify(value)}`,
              ),
            ) as object;
            return [
              own,
              key,
              value,
              new RegExp(
                `\`"?${value}"?\`: ${meaning.slice(0, 20).replaceAll(/[.*()|$]/g, "\\$&")}`,
              ),
            ];
          },
        )
      : [],
  );
  assert.ok(cases.length > 30, `${cases.length} values`);
  cases.push(
    [{ sources: [{ source: "a", type: "rpz" }] }, "type", "rpz", /`rpz`: A response policy zone/],
    [
      { sources: [{ source: "a", type: "urlhaus" }] },
      "type",
      "urlhaus",
      /`urlhaus`: URLhaus of abuse/,
    ],
    [{ outputs: [{ format: "cdb" }] }, "format", "cdb", /`cdb`: A constant database/],
    [
      { transformations: "recommended" },
      "transformations",
      "recommended",
      /TrimLines, RemoveComments/,
    ],
  );
  for (const [config, key, value, expected] of cases)
    for (const kind of ["json", "yaml"] as const) {
      const shown = await hoverOf(kind, withCursor(config, key, value));
      assert.match(shown, expected, `${kind}: ${key}: ${value}`);
      assert.doesNotMatch(shown, RELATIVE, value);
    }
  const list = '{"name":"L","sources":["a"],"transformations":["Comp§ress"]}';
  assert.match(await hoverOf("json", list), /`Compress`: Writes every name as/);
});

test("completion offers snippets, values with their meaning, and defaults", async () => {
  const snippets: [string, string, RegExp][] = [
    ["§", "configuration", /"name"[^]*"sources"[^]*"transformations": "recommended"/],
    ['{"name":"L","sources":[§]}', "source", /"source": "\$\{2:https:/],
    ['{"name":"L","sources":["a"],"outputs":[§]}', "output", /"format": "\$\{1:unbound\}"/],
    ['{"name":"L","sources":["a"],"lists":[§]}', "list", /"name": "\$\{1:Name\}"/],
    ['{"name":"L","sources":["a"],"after":[§]}', "reload a resolver", /"reload"/],
    ['{"name":"L","sources":["a"],"resolvers":[§]}', "resolver", /"address"/],
  ];
  for (const [text, label, expected] of snippets) {
    const item = (await completionsOf("json", text)).find((one) => one.label === label);
    assert.match(item?.insertText ?? "", expected, text);
  }
  for (const [kind, text, quote] of [
    ["json", '{"name":"L","sources":[{"source":"a","trust":§}]}', '"'],
    ["yaml", "name: L\nsources:\n  - source: a\n    trust: §\n", ""],
  ] as const) {
    const items = await completionsOf(kind, text);
    for (const [value, meaning] of Object.entries(SOURCE_FIELDS.trust.values)) {
      const item = items.find(({ label }) => label === quote + value + quote);
      const { documentation } = item ?? {};
      const shown = typeof documentation === "string" ? documentation : documentation?.value;
      assert.equal(shown, meaning, `${kind}: ${value}`);
    }
  }
  const bytes = await completionsOf(
    "json",
    '{"name":"L","sources":[{"source":"a","max_bytes":§}]}',
  );
  const largest = JSON.stringify(defaultValue(SOURCE_FIELDS.max_bytes));
  assert.ok(bytes.some(({ label }) => label === largest));
});

/** Every whole configuration of the pages, and those in files. */
function examples(): [name: string, kind: "json" | "yaml", text: string][] {
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.startsWith("decisions"))
    .map((file) => join("docs", file));
  const found = [...pages, "README.md"].flatMap((page) =>
    blocksOf(readFileSync(join(root, page), "utf8")).flatMap(
      ({ language, text, title }): [string, "json" | "yaml", string][] => {
        if (language !== "yaml" && language !== "json") return [];
        if (!/^(?: {2}"name"|name):/m.test(text) || !/^(?: {2}"sources"|sources):/m.test(text))
          return [];
        return [[`${page}: ${title}`, language, text]];
      },
    ),
  );
  const own = readFileSync(join(root, "compiler-config.json"), "utf8");
  return [...found, ["compiler-config.json", "json", own]];
}

test("no example of the pages has a problem, and a misspelt key has one", async () => {
  const all = examples();
  assert.ok(all.length > 40, `${all.length} configurations`);
  for (const [name, kind, text] of all)
    // Editors do not know the names that plugins add.
    if (!/^plugins:/m.test(text)) assert.deepEqual(await problemsOf(kind, text), [], name);
  for (const { path, example } of ALL_KEYS) {
    const config = { name: "L", sources: ["a.txt"], ...example };
    assert.deepEqual(await problemsOf("json", JSON.stringify(config)), [], path);
    const key = path.split(".").at(-1)!;
    const text = withCursor(example, key).replace(`§${key}`, `${key}x`);
    const problems = (await problemsOf("json", text)).join("\n");
    assert.match(problems, new RegExp(`Property ${key.replace("$", "\\$")}x is not allowed`), path);
  }
  const misspelt = "name: L\nsources:\n  - source: a.txt\n    trst: full\n";
  assert.deepEqual(await problemsOf("yaml", misspelt), ["Property trst is not allowed."]);
});

/** As much of Ajv as is used here. */
interface Ajv {
  addKeyword(name: string): void;
  compile(schema: object): (value: unknown) => boolean;
}

/** SchemaStore compiles schemas in strict mode, with these keywords of editors. */
function strictly(): (value: unknown) => boolean {
  const { Ajv } = tools("ajv") as { Ajv: new (options: object) => Ajv };
  const ajv = new Ajv({ strict: true, validateFormats: false });
  for (const keyword of [
    "defaultSnippets",
    "markdownDescription",
    "enumDescriptions",
    "markdownEnumDescriptions",
  ])
    ajv.addKeyword(keyword);
  return ajv.compile(schema());
}

const VALUES: readonly unknown[] = [
  true,
  7,
  -1,
  0.5,
  "zz",
  "7d",
  "20M",
  "",
  [],
  ["zz"],
  [{}],
  {},
  { a: 1 },
  null,
];

test("the schema passes SchemaStore's strict mode, and refuses nothing that the program accepts", async () => {
  const isValid = strictly();
  let refused = 0;
  for (const { path, field, example } of ALL_KEYS)
    for (const value of [field.example, ...VALUES]) {
      const key = path.split(".").at(-1)!;
      const text = JSON.stringify({ name: "L", sources: ["a.txt"], ...example });
      const from = `"${key}":${JSON.stringify(field.example)}`;
      const at = text.lastIndexOf(from);
      const changed = `${text.slice(0, at)}"${key}":${JSON.stringify(value)}${text.slice(at + from.length)}`;
      assert.ok(at !== -1, path);
      if (isValid(JSON.parse(changed))) continue;
      const project = new MemoryProject({ "c.json": changed });
      const { exit, stderr } = await project.run("validate", "-c", "c.json", "--strict");
      assert.notEqual(exit, 0, `${path}: ${changed}\n${stderr}`);
      refused++;
    }
  assert.ok(refused > 300, `${refused} refused`);
});

test("the entry for SchemaStore's catalog names the address and the files", () => {
  const page = readFileSync(join(root, "RELEASING.md"), "utf8");
  const block = blocksOf(page).find(({ text }) => text.includes("fileMatch"));
  const entry = JSON.parse(block!.text) as Record<string, unknown>;
  assert.equal(entry["url"], $id);
  assert.deepEqual(entry["fileMatch"], CONFIG_NAMES);
  for (const key of ["name", "description"])
    assert.doesNotMatch(String(entry[key]), /schema|\n|[,. \t-]$/i);
});
