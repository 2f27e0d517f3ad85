import { GUARD_FIELDS, type Field, SOURCE_FIELDS } from "../src/config/fields.ts";
import { FORMAT_NAMES } from "../src/config/outputs.ts";
import { FEED_NAMES, SOURCE_ONLY_FIELDS } from "../src/config/sources.ts";
import { TRANSFORMATION_NAMES } from "../src/engine/plan.ts";
import {
  ACCEPTED_KINDS,
  STRICT_KINDS,
  countKinds,
  householdKinds,
} from "../src/engine/protected-names.ts";
import { anchorOf, linksTo } from "./anchor.ts";
import { ALL_KEYS, type Key, keyOf, yamlText } from "./keys.ts";
import { NOTICE } from "./reference-pages.ts";

/** The page of the configuration: a heading for each key, with its type, its default and an example. */

const TYPES: Readonly<Record<Field["type"], string>> = {
  string: "text",
  strings: "list of strings",
  "string-or-list": "text or list of strings",
  entries: "list of [entries](#exclusions-and-inclusions)",
  source: "URL or path",
  transformations: "list of [transformations](transformations.md), or `recommended`",
  sources: "list of sources, each a URL, a path or an object",
  files: "list of [files](#files-of-names)",
  "source-type": "one of the [formats](formats.md) and feeds below",
  column: "text or number",
  matches: "object of strings",
  boolean: "`true` or `false`",
  number: "number",
  guards: "object",
  duration: "time, such as `30m` or `7d`",
  size: "size, such as `20M`",
  format: "one of the [formats](formats.md)",
  choice: "one of the values below",
  answer: "one of the values below",
  choices: "list of some of the values below",
  object: "object",
  objects: "list of objects",
};

/** The sections of the page by the beginning of their paths, with what holds for all their keys. */
const SECTIONS: readonly (readonly [title: string, path: string, text: string])[] = [
  [
    "The list",
    "",
    `Only \`name\` and \`sources\` are required. Most lists need one more line: \`transformations: recommended\`.`,
  ],
  [
    "Keys of a source",
    "sources[].",
    `${namesOf(sharedWithList())} of a source mean the same as at the top level, for the lines of this source alone.

In YAML, quote entries that begin with \`|\`, \`*\`, \`@\`, \`&\` or \`!\`: \`- "||example.org^"\`.`,
  ],
  [
    "Keys of guards",
    "guards.",
    `Before a list is published, guards compare it with the last published list, and its rules with the names that must not be blocked. If a guard
refuses the list, it reports the source and line, the old list stays, and the exit code is 5. \`--accept\` with the code of the refusal overrides
it once.`,
  ],
  [
    "Keys of an output",
    "outputs[].",
    `The list itself is always written in adblock syntax, to \`rules/<name>.txt\` or the path of \`-o\`. \`outputs\` defines further files in the
[formats](formats.md) of other resolvers. They are made from the same list, pass the same guards, and are published with it. An output has
[\`fit\`](#fit), too, with keys of its own.`,
  ],
  [
    "Several lists",
    "lists[].",
    `With \`lists\`, one configuration makes several lists from the sources at the top level. Each source is fetched and read once. A list has
a \`name\` and inherits every other key of the top level that it does not set; \`allow\`, \`allow_sources\`, \`exclusions\` and \`exclusions_sources\` are
combined with those of the top level. See [several lists from the same sources](../guide/several-lists.md).`,
  ],
  [
    "Several lists in one file",
    "combined[].",
    `An entry of \`combined\` is a file over several \`lists\`. It has every name once and says which lists block it, so that a resolver can give each
client its own choice of lists. It is made from the published lists after all of them are built. See
[one file for all lists](../guide/several-lists.md#one-file-for-all-lists).`,
  ],
  [
    "Keys of a resolver",
    "resolvers[].",
    `\`prove\` asks these resolvers whether they answer from the published list; see [Prove](../guide/prove.md).`,
  ],
  [
    "Keys of a hook",
    "after[].",
    `Each entry of \`after\` has exactly one of \`run\`, \`post\` and \`reload\`. Hooks run only with \`--permit hooks\`, one after the other, and never
change what was published nor the exit code. See [hooks](../guide/hooks.md).`,
  ],
];

/** Keys of a source that lists have, too. */
function sharedWithList(): Field[] {
  const own: readonly Field[] = Object.values(SOURCE_ONLY_FIELDS);
  return Object.values<Field>(SOURCE_FIELDS).filter((field) => !own.includes(field));
}

function namesOf(fields: readonly Field[]): string {
  const links = fields.map(linkOf);
  return `${links.slice(0, -1).join(", ")} and ${links.at(-1)!}`;
}

function linkOf(field: Field): string {
  const { path } = keyOf(field);
  return `[\`${path.split(".").at(-1)!}\`](#${anchorOf(path)})`;
}

/** The section of a key: the longest beginning of its path. */
function sectionOf({ path }: Key): string {
  const begins = SECTIONS.map(([, begin]) => begin).filter((begin) => path.startsWith(begin));
  return begins.reduce((a, b) => (a.length > b.length ? a : b));
}

export function configurationPage(): string {
  const bySection = Map.groupBy(ALL_KEYS, sectionOf);
  const index = SECTIONS.map(([title, begin]) => {
    const links = bySection.get(begin)!.map(({ path }) => {
      const name = path.slice(begin.length);
      return `[\`${name}\`](#${anchorOf(path)})`;
    });
    return `- **[${title}](#${anchorOf(title)})**: ${links.join(" · ")}`;
  });
  const sections = SECTIONS.map(([title, begin, text]) => {
    const keys = bySection.get(begin)!.map(keySection);
    const more = begin === "guards." ? [kindSection()] : [];
    return [`## ${title}`, text, ...keys, ...more].join("\n\n");
  });
  return `${NOTICE}

# Configuration

One file describes a list, or [several](#several-lists). Its extension selects the format: \`.json\` (strict), \`.jsonc\` (JSON with comments), \`.yaml\`
or \`.yml\`. The keys are the same in all formats. Unknown keys are reported and ignored. A relative path starts from the folder of the
configuration; if no such file exists, the working directory is tried, with a note. Editors explain and complete all keys with the
[schema](#schema).

${index.join("\n")}

${sections.join("\n\n")}

## Files of names

An entry of \`ranks\`, \`expand\`, \`allow_sources\`, \`exclusions_sources\`, \`inclusions_sources\` and \`guards.protect\` is a URL or a path, or a
source with those of its settings that say where the file is and how it is read:

\`\`\`yaml
exclusions_sources:
  - allow.txt
  - { source: "http://192.168.1.5/allow.txt", allow_private: true }
  - { source: "https://example.org/hosts.csv", type: csv, column: host, max_stale: 30d }
\`\`\`

Without a \`type\`, an entry of \`ranks\` or \`expand\` is read as \`tranco\`, that is \`rank,name\`, if \`.csv\` occurs in its URL or path, otherwise as
\`domains\`, one name per line.

## Exclusions and inclusions

Both are applied before the transformations of their level, exclusions first. An entry is one of:

- \`/…/\` matches lines that match the regular expression; case-insensitive.
- Text with \`*\` matches whole lines, in which \`*\` is any text; case-insensitive.
- \`||name^\` and \`@@||name^\` match every rule for that name in any syntax, and other lines that contain the text.
- \`0.0.0.0 name\`, also with several names, matches every rule for these names in any syntax.
- Other text matches lines that contain it; case-sensitive.

Rules for a name are \`name\`, \`0.0.0.0 name\`, \`||name^\`, \`|name^\`, \`@@||name^\` and similar forms, with modifiers (\`||name^$important\`),
a final dot (\`name.\`), a note (\`name # note\`) or surrounding blanks, in upper or lower case, and with the name in its own script or in
ASCII (\`xn--…\`). Rules for other names, such as \`||sub.name^\`, and patterns for more than the name, such as \`||*.name^\`, do not match. In a
hosts line with several names, only the matching names are removed or kept.
`;
}

function keySection({ path, field, example }: Key): string {
  const { type, required, default: text, description } = field;
  const status = required === true ? "Required" : `Default: ${text}`;
  const section = SECTIONS.find(([, begin]) => begin === `${path}[].` || begin === `${path}.`);
  const keys = section === undefined ? [] : [`See [${section[0]}](#${anchorOf(section[0])}).`];
  return [
    `### \`${path}\``,
    `Type: ${TYPES[type]} · ${status}`,
    description,
    ...keys,
    ...valuesOf(field),
    `\`\`\`yaml\n${yamlText(example)}\`\`\``,
  ].join("\n\n");
}

/** The values of a choice, each with its meaning; formats have a page. */
function valuesOf({ type, values }: Field): string[] {
  if (type === "source-type") {
    return [
      `Formats: ${linksTo(FORMAT_NAMES, "formats.md")}`,
      `Feeds: ${linksTo(FEED_NAMES, "formats.md")}`,
    ];
  }
  if (type === "transformations")
    return [`Names: ${linksTo(TRANSFORMATION_NAMES, "transformations.md")}`];
  if (values === undefined) return [];
  return [
    Object.entries(values)
      .map(([value, meaning]) => `- \`${value}\`: ${meaning}.`)
      .join("\n"),
  ];
}

/** The kinds of names that people need, with the number of names. */
function kindSection(): string {
  const counts = countKinds(householdKinds().keys());
  const kinds = (names: readonly (keyof typeof counts)[]): string =>
    names.map((kind) => `\`${kind}\` (${counts[kind]})`).join(", ");
  return `### Names that people need

A source below full trust must not block these built-in names; see [bad upstreams](../guide/bad-upstreams.md#names-that-people-need).
${linkOf(GUARD_FIELDS.may_block)} takes their names and their kinds, here with the number of names:

- No such source may block ${kinds(STRICT_KINDS)}.
- New sources, and those that already do, may block ${kinds(ACCEPTED_KINDS)}.`;
}
