import { holdCommandLine, holdText } from "../build/state/hold.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { type Attention, conditionAttention } from "../pages/headline.ts";
import { html } from "../pages/html.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { isDegraded } from "../sources/source-state.ts";
import type { LastChange } from "./last-change.ts";
import type { ListCondition } from "./list-condition.ts";

interface Looked {
  readonly header: RecordHeader;
  readonly condition: ListCondition;
  readonly change: LastChange | undefined;
}

/** What a person should look at, the most important first. */
export function attentionOf({ header, condition, change }: Looked): Attention[] {
  return [
    ...holdAttention(header, condition),
    ...refusalAttention(condition),
    ...condition.problems.map((title) => ({
      tone: "bad" as const,
      title,
      details: [html`To see where: <code>rules-compiler log</code>`],
    })),
    ...condition.conditions.map(conditionAttention),
    ...(change === undefined ? [] : shrunkSources(header, change)),
  ];
}

function holdAttention({ name }: RecordHeader, { hold }: ListCondition): Attention[] {
  if (hold === undefined) return [];
  const end = html`Runs publish nothing until the hold ends:
    <code>${holdCommandLine("hold --end", undefined)}</code>`;
  return [{ tone: "warn", title: holdText(name, hold), details: [end] }];
}

function refusalAttention({ refusal }: ListCondition): Attention[] {
  if (refusal === undefined) return [];
  const { at, rules, guards = [] } = refusal;
  const size = rules === undefined ? "" : ` with ${countText(rules, "rule")}`;
  return [
    {
      tone: "warn",
      title: "A newer list was refused, and this one is still published",
      details: [
        `A run on ${momentText(at)} made a list${size}. ${guards.length === 1 ? "The guard" : "Guards"} ${someOf(guards)} refused it.`,
        html`To see why: <code>rules-compiler plan</code>`,
      ],
    },
  ];
}

/** Sources that lost more than half of their lines since the build before. */
function shrunkSources({ sources }: RecordHeader, { before }: LastChange): Attention[] {
  const linesBefore = new Map(before.sources.map(({ label, lines }) => [label, lines]));
  return sources.flatMap(({ label, lines, state }) => {
    const old = linesBefore.get(label) ?? 0;
    if (old < FEWEST_LINES || lines * 2 >= old || isDegraded(state)) return [];
    const details = [
      `It had ${numberText(old)} lines in the build before and now has ${numberText(lines)}.`,
    ];
    return [{ tone: "warn" as const, title: `${label} lost more than half of its lines`, details }];
  });
}

/** Small sources change by half every day. */
const FEWEST_LINES = 100;
