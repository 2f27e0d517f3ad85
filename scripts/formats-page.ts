import type { Json } from "../src/config/fields.ts";
import {
  COMBINED_FIELDS,
  FORMAT_NAMES,
  OUTPUT_FIELDS,
  SIZE_PRESETS,
  type SizePreset,
} from "../src/config/outputs.ts";
import { FEEDS, type FeedName } from "../src/config/sources.ts";
import { numberText } from "../src/diagnostics/text.ts";
import { combinedFormats } from "../src/formats/combined/registry.ts";
import { nameFormats } from "../src/formats/formats.ts";
import { DEFAULT_OPTIONS, type NameFormat } from "../src/formats/name-format.ts";
import { LOSS_REASONS } from "../src/formats/special-rule.ts";
import { anchorOf, linksTo } from "./anchor.ts";
import { yamlText } from "./keys.ts";
import { NOTICE } from "./reference-pages.ts";

/** The page of the formats: a heading for each format, feed and service, with its type, its defaults and an example. */

export function formatsPage(): string {
  return `${NOTICE}

# Formats

- **[Formats](#formats-of-lists)**: ${linksTo([...nameFormats.keys()])}
- **[Feeds](#feeds)**: ${linksTo(Object.keys(FEEDS))}
- **[Limits of services and devices](#limits-of-services-and-devices)**: ${linksTo(Object.keys(SIZE_PRESETS))}
- **[Answers](#answers)**
- **[Several lists in one file](#several-lists-in-one-file)**: ${linksTo([...combinedFormats.keys()], "", OF_SEVERAL)}
- **[What is lost](#what-is-lost)**

## Formats of lists

These are the formats of [\`outputs\`](configuration.md#outputs), and types of [sources](configuration.md#${anchorOf("sources[].type")}). For each, the page
shows the lines that block and allow \`name\`. *Memory* is the basis of \`fit.ram\`: bytes of the software's memory per name, measured with 200,000 names or
estimated.

No output blocks what the list does not block, unless \`on_loss: widen\` is set. Exceptions that are patterns or regular expressions are tested
on the names that are written. \`$denyallow\` is written as exceptions. If an exception may unblock a subdomain of a blocked name and the format
cannot express it, the name is blocked without its subdomains, or not at all. \`hosts\` and \`domains\` contain every name that is in a source and
that the list blocks, including those that Compress removes because a parent covers them.

${[...nameFormats].map(([name, format]) => formatSection(name, format)).join("\n\n")}

## Answers

What [\`answer\`](configuration.md#${anchorOf("outputs[].answer")}) can be. In other formats the resolver decides; see [block pages and other answers](../guide/answers.md).
Rewrites of fully trusted sources are written in the same formats, if they have the answer.

${answerTable()}

Knot Resolver 5 ignores records of a zone that answer with a name. A hosts file with an IPv4 address alone says nothing about IPv6, and none says anything about other types of questions.

## Feeds

Types of sources whose rows become rules for names; see [Threat feeds](../guide/feeds.md). \`json\` with a \`pointer\` is a feed, too.

${Object.entries(FEEDS)
  .map(([name, meaning]) => feedSection(name as FeedName, meaning))
  .join("\n\n")}

## Limits of services and devices

\`split: { for: … }\` makes files that these accept. Only limits that the vendor documents, or that its software reports, are here. We found
none for NextDNS, for MikroTik's adlist and for blocked sites of a FRITZ!Box (its help states 500 for allowed sites), and could not confirm the quotas of
Route 53 Resolver DNS Firewall: use \`max_rules\`. A service may count other lists of yours, too.

${Object.entries(SIZE_PRESETS)
  .map(([name, limit]) => serviceSection(name, limit))
  .join("\n\n")}

## Several lists in one file

The formats of [\`combined\`](configuration.md#combined). Their files have every name once, with the lists that block it.

${[...combinedFormats].map(([name, { usedBy }]) => combinedSection(name, usedBy)).join("\n\n")}

## What is lost

An output reports the rules that its format cannot express exactly, by reason:

${Object.entries(LOSS_REASONS)
  .map(([reason, meaning]) => `- \`${reason}\`: ${meaning}`)
  .join("\n")}
`;
}

/** \`cdb\` is a format of one list, and of several. */
const OF_SEVERAL = " of several lists";

interface Section {
  readonly name: string;
  readonly type: string;
  readonly facts: readonly string[];
  readonly text: readonly string[];
  readonly example: Readonly<Record<string, Json>>;
}

function section({ name, type, facts, text, example }: Section): string {
  return [
    `### ${name}`,
    [`Type: ${type}`, ...facts].join(" · "),
    ...text,
    `\`\`\`yaml\n${yamlText(example)}\`\`\``,
  ].join("\n\n");
}

function formatSection(name: string, format: NameFormat): string {
  const { summary, usedBy, extension, answers = [], memoryPerName, isMeasured } = format;
  const isSource = (FORMAT_NAMES as readonly string[]).includes(name);
  const [first, ...others] = answers;
  const notes = [
    ...(format.hasAllowFile === true ? ["Exceptions are in a second file, `….allow…`."] : []),
    ...(format.allowWins === true ? ["Nothing below an exception can be blocked again."] : []),
    ...(first === undefined
      ? []
      : [
          `Answer by default: \`${first}\`${others.length === 0 ? "" : `, also ${codes(others)}`}.`,
        ]),
  ];
  return section({
    name: `\`${name}\``,
    type: isSource ? "format of outputs and sources" : "format of outputs",
    facts: [
      `Default file: \`{slug}${extension}\``,
      `Memory: ${numberText(memoryPerName)} bytes per name, ${isMeasured === true ? "measured" : "estimated"}`,
    ],
    text: [
      `${summary} For ${usedBy}.`,
      linesOf(format),
      ...(notes.length === 0 ? [] : [notes.join(" ")]),
    ],
    example: { outputs: [{ format: name }] },
  });
}

/** The formats that have answers, and which. */
function answerTable(): string {
  const answering = [...nameFormats].flatMap(([name, { answers = [] }]) =>
    answers.length === 0 ? [] : [{ name, answers }],
  );
  const kinds = ["nxdomain", "null", "nodata", "refused", "address", "cname"] as const;
  const rows = answering.map(({ name, answers }) => {
    const cells = kinds.map((kind) =>
      answers[0] === kind ? "default" : answers.includes(kind) ? "yes" : "",
    );
    return `| [\`${name}\`](#${anchorOf(name)}) | ${cells.join(" | ")} |`;
  });
  return [
    `| format | ${codes(kinds).replaceAll(", ", " | ")} |`,
    `|---|${kinds.map(() => "---|").join("")}`,
    ...rows,
  ].join("\n");
}

/** The lines that a format has for a name. */
function linesOf(format: NameFormat): string {
  const { subtree, exact, below, allowSubtree, allowExact } = format.lines(DEFAULT_OPTIONS);
  const all: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["blocks the name with its subdomains", subtree],
    ["blocks the name alone", exact],
    ["blocks its subdomains alone", below],
    ["allows the name with its subdomains", allowSubtree],
    ["allows the name alone", allowExact],
  ];
  return all
    .flatMap(([what, lines]) =>
      lines === undefined
        ? []
        : [`- ${codes(lines.map((line) => line.replace(/^,/, "").replace("%", "name")))} ${what}`],
    )
    .join("\n");
}

function codes(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(", ");
}

/** What the type of a feed needs beside it. */
const NEEDED: Readonly<Partial<Record<FeedName, Record<string, Json>>>> = {
  csv: { column: "url" },
  ndjson: { pointer: "/host" },
};

function feedSection(name: FeedName, meaning: string): string {
  const isRanked = name === "tranco" || name === "umbrella";
  const source = { source: `https://example.org/${name}`, type: name, ...NEEDED[name] };
  return section({
    name: `\`${name}\``,
    type: isRanked ? "type of files of names" : "type of sources",
    facts: ["Default of `urls`: `whole`"],
    text: [`${meaning}.`],
    example: { [isRanked ? "ranks" : "sources"]: [source] },
  });
}

function serviceSection(name: string, limit: SizePreset): string {
  const { format, names, size, files, source, read, note } = limit;
  const service = OUTPUT_FIELDS.split.fields.for.values[name as keyof typeof SIZE_PRESETS];
  const limits = [
    `at most ${numberText(names)} names per file`,
    ...(size === undefined ? [] : [`a file of at most ${size}`]),
    ...(files === undefined
      ? []
      : [files === 1 ? "one file" : `at most ${numberText(files)} files`]),
  ];
  return section({
    name: `\`${name}\``,
    type: "value of `split.for`",
    facts: [`Format: [\`${format}\`](#${anchorOf(format)})`],
    text: [
      `${service}: ${limits.join(", ")}. ${note} Source: [${new URL(source).hostname}](${source}), which we read on ${read}.`,
    ],
    example: { outputs: [{ format, split: { for: name } }] },
  });
}

function combinedSection(name: string, usedBy: string): string {
  const { values, needs } = COMBINED_FIELDS.format;
  return section({
    name: `\`${name}\`${OF_SEVERAL}`,
    type: "format of `combined`",
    facts: [`For ${usedBy}`, "Default of `lists`: all"],
    text: [`${values[name as keyof typeof values]}.`],
    example: { ...needs, combined: [{ format: name, file: `all.${name}` }] },
  });
}
