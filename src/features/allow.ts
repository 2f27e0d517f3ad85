import type { CompileReport } from "../documents/facts.ts";
import type { Config } from "../config/lists.ts";
import { answerOf } from "../config/outputs.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { someOf } from "../diagnostics/text.ts";
import type { FeatureRun, ListFeature } from "../engine/feature.ts";
import { entryFiles } from "../engine/plan.ts";
import { asciiLabels, writtenEntry } from "../syntax/written-names.ts";
import {
  AllowExceptions,
  type AllowList,
  type AllowUse,
  allowing,
} from "../transformations/allow.ts";

/**
 * The names of `allow` and `allow_sources`, and of pages that outputs answer with, stay reachable: rules for them go, and broader rules
 * get exceptions.
 */
export const allow: ListFeature = {
  name: "allow",
  open({ plan: { config }, reader, context }): FeatureRun | undefined {
    const { allow: own = [], allow_sources: files = [] } = config;
    const pages = pagesOf(config);
    const inline = [...own, ...pages];
    if (inline.length === 0 && files.length === 0) return undefined;
    let list: AllowList | undefined;
    return {
      async fetch() {
        const read = await reader.entries.allowList(inline, entryFiles(files, "allow"));
        if (!read.isEmpty) list = read;
      },
      drops: (name) => list?.matchesName(name) === true,
      stages: () =>
        list === undefined
          ? {}
          : {
              arrived: [{ name: "allow", stage: allowing(list, context) }],
              transformed: [{ name: "allow", stage: new AllowExceptions(list, context) }],
            },
      result: () =>
        list === undefined
          ? {}
          : { report: allowReport(list), diagnostics: unusedEntries(list, pages) },
    };
  },
};

/** The names that outputs answer with. A block of such a name would hide the page. */
function pagesOf({ outputs = [] }: Config): string[] {
  const pages = outputs.flatMap(({ answer }) => {
    const read = answer && answerOf(answer);
    return read?.kind === "cname" ? [read.name] : [];
  });
  return [...new Set(pages)];
}

function allowReport({ uses }: AllowList): Pick<CompileReport, "allow"> {
  return {
    allow: uses.map(({ entry, removed, exception }) => {
      const text = writtenEntry(entry);
      return { entry: text, removed, ...(exception === undefined ? {} : { exception }) };
    }),
  };
}

function isUsed({ removed, exception }: AllowUse): boolean {
  return removed > 0 || exception !== undefined;
}

/** One note for all allow-list entries that matched no rule. */
function unusedEntries({ uses }: AllowList, pages: readonly string[]): Diagnostic[] {
  // A non-ASCII name has two entries: as written and in ASCII.
  const used = new Set([
    ...uses.filter(isUsed).map(({ entry }) => asciiLabels(entry.name)),
    ...pages,
  ]);
  const unused = uses.filter(({ entry }) => !used.has(asciiLabels(entry.name)));
  if (unused.length === 0) return [];
  const names = unused.map(({ entry }) => writtenEntry(entry));
  const message = `These entries of the allowlist match no rule: ${someOf(names)}`;
  return [warningOf("allow-unused", message, { subject: "allow", all: names })];
}
