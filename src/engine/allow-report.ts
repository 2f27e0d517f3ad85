import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { writtenEntry } from "../syntax/allow-entry.ts";
import { asciiLabels } from "../syntax/idna.ts";
import type { AllowList, AllowUse } from "../transformations/allow.ts";
import type { CompileReport } from "./report.ts";

export function allowReport({ isEmpty, uses }: AllowList): Pick<CompileReport, "allow"> {
  if (isEmpty) return {};
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
export function unusedEntries({ uses }: AllowList): Diagnostic[] {
  // A non-ASCII name has two entries: as written and in ASCII.
  const used = new Set(uses.filter(isUsed).map(({ entry }) => asciiLabels(entry.name)));
  const unused = uses.filter(({ entry }) => !used.has(asciiLabels(entry.name)));
  if (unused.length === 0) return [];
  const names = unused.map(({ entry }) => writtenEntry(entry));
  const message = `These entries of the allowlist match no rule: ${someOf(names)}`;
  return [warningOf("allow-unused", message, { subject: "allow", all: names })];
}
