import { errorOf, warningOf } from "../../diagnostics/diagnostic.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { shellWord } from "../../diagnostics/shell-word.ts";
import { allNames, someOf } from "../../diagnostics/some-of.ts";
import type { PopularFindings } from "../../engine/list-findings.ts";
import type { Guard } from "./guard.ts";

/** As many names as fit a line to paste. */
const MOST_PASTED = 50;

type Popular = PopularFindings["names"][number];

/** Finds popular names that the list blocks and the published one does not. For the first list, it only warns. */
export const newlyBlocks: Guard = {
  check({ findings: { popular } }) {
    const [first] = popular?.names ?? [];
    if (popular === undefined || first === undefined) return [];
    const { names, top, isFirst } = popular;
    const all = names.map(({ name }) => name);
    const shown = names.map(({ name, rank }) => `${name} (rank ${numberText(rank)})`);
    const count = `${countText(all.length, "name")} of the top ${numberText(top)}`;
    const more = {
      ...(first.at === undefined ? {} : { at: first.at }),
      ...allNames(all),
    };
    if (isFirst)
      return [warningOf("popular-blocked", `The list blocks ${count}: ${someOf(shown)}`, more)];
    const cause = someOf(names.map(placeOf));
    const message = `The list would newly block ${count}: ${someOf(shown)}`;
    return [errorOf("newly-blocks", message, { ...more, cause, hint: hintFor(all, popular) })];
  },
};

function placeOf({ text, at }: Popular): string {
  const rule = printable(text, 40);
  if (at === undefined) return rule;
  return `${rule} in ${printable(at.file, 60)}${at.line === undefined ? "" : `:${at.line}`}`;
}

/** Names have only letters, digits, dots and hyphens, so the command is safe to paste. */
function hintFor(names: readonly string[], { acknowledged }: PopularFindings): string {
  if (acknowledged === undefined)
    return "To accept them, write the names into a file, one per line, and name it in guards.newly_blocks.acknowledged; or publish once with --accept newly-blocks";
  const file = printable(acknowledged.shown);
  if (!acknowledged.isFile || names.length > MOST_PASTED || file !== acknowledged.shown)
    return `To accept them, add the names that --verbose shows to ${file}, one per line`;
  // The empty line is for a file whose last line does not end.
  return `To accept them: printf '%s\\n' '' ${names.join(" ")} >> ${shellWord(file)}`;
}
