import type { FeatureResult, FeatureRun, ListFeature, SourceRun } from "../engine/feature.ts";
import type { SourceReport } from "../documents/facts.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import type { PlannedSource } from "../engine/plan.ts";
import { type Chunk, Flag, textOf } from "../rules/chunk.ts";

/** Reads the licence that each source states in its header, and compares it with the licence of the list. */
export const licences: ListFeature = {
  name: "licences",
  open: ({ plan, options }) =>
    options.compat === true
      ? undefined
      : new Licences(plan.config.license, (index) => plan.sources[index]!.label),
};

/** Headers are shorter. */
const MOST_ROWS = 300;
const LONGEST = 200;

class Licences implements FeatureRun {
  private readonly heads = new Map<number, HeaderReader>();
  private readonly granted: Terms | undefined;
  private readonly labelOf: (index: number) => string;

  constructor(own: string | undefined, labelOf: (index: number) => string) {
    this.granted = own === undefined ? undefined : termsOf(own);
    this.labelOf = labelOf;
  }

  source({ index }: PlannedSource): SourceRun {
    const head = new HeaderReader();
    this.heads.set(index, head);
    return head;
  }

  result(): FeatureResult {
    const sources = new Map<number, Partial<SourceReport>>();
    const diagnostics: Diagnostic[] = [];
    for (const [index, { licence }] of this.heads) {
      if (licence === undefined) continue;
      const terms = termsOf(licence);
      sources.set(index, { licence });
      const forbidden = terms && this.granted && conflict(terms, this.granted);
      if (forbidden === undefined) continue;
      const subject = printable(this.labelOf(index));
      const message = `${terms!.id}, the licence of ${subject}, forbids ${forbidden}; ${this.granted!.id}, the licence of the list, allows it`;
      const hint = "Change license, ask the author of the source, or remove the source";
      diagnostics.push(warningOf("licence-conflict", message, { subject, hint }));
    }
    return { sources, diagnostics };
  }
}

/** Finds the licence in the comments at the start of a source. */
class HeaderReader implements SourceRun {
  licence: string | undefined;
  private left = MOST_ROWS;
  private readonly lines: string[] = [];

  see(chunk: Chunk): void {
    if (this.left <= 0) return;
    for (let row = 0; row < chunk.length && this.left > 0; row++, this.left--) {
      if ((chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const text = textOf(chunk, row);
      if (/^\s*[!#;]/.test(text)) this.lines.push(text.slice(0, 4 * LONGEST));
    }
    this.licence = licenceIn(this.lines);
  }
}

const FIELD = /^(?:[\p{L}]+\s*\/\s*)?licen[cs]e\s*[:=]\s*(.*)$/iu;
const SENTENCE = /\blicensed\s+under\s+(?:the\s+|an?\s+)?(.*)$/i;
const NONE = /^(?:not specified|none|unknown|n\/a|-)\.?$/i;

/** The licence that comments state, as they state it; undefined if they state none. */
export function licenceIn(comments: readonly string[]): string | undefined {
  const texts = comments.map((line) => line.replace(/^[\s!#;|*]+/, "").replace(/[\s#*|,;]+$/, ""));
  for (const [at, text] of texts.entries()) {
    const next = texts[at + 1] ?? "";
    const field = FIELD.exec(text)?.[1];
    if (field !== undefined) {
      // Some put it below, and some put the URL there.
      const found =
        field === "" || (termsOf(field) === undefined && URL_ONLY.test(next))
          ? `${field} ${next}`
          : field;
      return NONE.test(found.trim()) ? undefined : shown(found);
    }
    const sentence = SENTENCE.exec(text)?.[1];
    if (sentence === undefined) continue;
    return shown(termsOf(sentence) === undefined ? `${sentence} ${next}` : sentence);
  }
  return undefined;
}

const URL_ONLY = /^https?:\/\/\S+$/i;

function shown(text: string): string | undefined {
  const line = printable(text.replace(/\s+/g, " ").trim(), LONGEST);
  return line === "" ? undefined : line;
}

/** What a licence demands of those who publish a changed version. */
export interface Terms {
  /** Its identifier of SPDX, or a family without a version. */
  readonly id: string;
  readonly forbidsSale?: true;
  readonly forbidsChanges?: true;
  /** The licences that a changed version may have. */
  readonly only?: readonly string[];
}

const FREE: readonly (readonly [pattern: RegExp, id: string])[] = [
  [/\bCC0\b|creative commons zero|publicdomain\/zero/i, "CC0-1.0"],
  [/unlicense/i, "Unlicense"],
  [/\bpublic domain\b/i, "Public domain"],
  [/\bMIT\b|mit-license\.org|licenses\/mit\b/i, "MIT"],
  [/\bapache\b.*\b2(?:\.0)?\b/i, "Apache-2.0"],
  [/\bBSD\b/i, "BSD"],
  [/\bISC\b/, "ISC"],
  [/\bMPL\b|mozilla public/i, "MPL-2.0"],
  [/\bWTFPL\b/i, "WTFPL"],
];

/** Families in which a changed version must stay, with the licences that it may also take. */
const COPYLEFT: readonly (readonly [pattern: RegExp, id: string, only: readonly string[]])[] = [
  [/\bAGPL|affero/i, "AGPL", ["AGPL"]],
  [/\bLGPL|lesser general public/i, "LGPL", ["LGPL", "GPL", "AGPL"]],
  [/\bGPL|gnu general public|licenses\/gpl/i, "GPL", ["GPL", "AGPL"]],
  [/\bODbL\b|open database licen[cs]e/i, "ODbL", ["ODbL"]],
];

const CREATIVE_COMMONS = [
  /creativecommons\.org\/licenses\/(by[a-z-]*)(?:\/(\d\.\d))?/i,
  /\b(?:CC|creative commons)[\s-]+(BY\b[A-Z-]*|attribution[a-z -]*)[\s(-]*(\d\.\d)?/i,
];

/** The terms of a well-known licence; undefined for any other. */
export function termsOf(text: string): Terms | undefined {
  for (const pattern of CREATIVE_COMMONS) {
    const found = pattern.exec(text);
    if (found !== null) return creativeCommons(found[1]!, found[2]);
  }
  const free = FREE.find(([pattern]) => pattern.test(text));
  if (free !== undefined) return { id: free[1] };
  const left = COPYLEFT.find(([pattern]) => pattern.test(text));
  if (left !== undefined) return { id: versioned(left[1], text), only: left[2] };
  return /\bnon-?commercial\b/i.test(text) ? { id: text, forbidsSale: true } : undefined;
}

function creativeCommons(words: string, version = ""): Terms {
  const isOne = (short: string, long: RegExp): boolean =>
    new RegExp(`\\b${short}\\b`, "i").test(words) || long.test(words);
  const sale = isOne("nc", /non-?\s?commercial/i);
  const changes = isOne("nd", /no-?\s?deriv/i);
  const alike = isOne("sa", /share-?\s?alike/i);
  const parts = ["CC", "BY", sale && "NC", changes && "ND", alike && "SA", version];
  const family = `CC-BY${sale ? "-NC" : ""}-SA`;
  return {
    id: parts.filter(Boolean).join("-"),
    ...(sale && { forbidsSale: true }),
    ...(changes && { forbidsChanges: true }),
    // Version 4.0 of BY-SA allows the GPL, too.
    ...(alike && { only: sale ? [family] : [family, "GPL"] }),
  };
}

function versioned(family: string, text: string): string {
  const version = /\bv?(?:ersion )?([23])(?:\.0)?\b/i.exec(text)?.[1];
  return version === undefined ? family : `${family}-${version}.0`;
}

/** What the licence of a source forbids and that of the list grants; undefined if nothing. */
export function conflict(source: Terms, list: Terms): string | undefined {
  if (source.forbidsChanges === true && list.forbidsChanges !== true) return "changed versions";
  if (source.forbidsSale === true && list.forbidsSale !== true) return "commercial use";
  if (source.only?.some((family) => list.id.startsWith(family)) === false)
    return "another licence for a changed version";
  return undefined;
}
