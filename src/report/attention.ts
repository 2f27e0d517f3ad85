import { holdCommandLine, holdText } from "../build/state/hold.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { Attention } from "../pages/headline.ts";
import { html } from "../pages/html.ts";
import type { RecordHeader, RecordedSource } from "../record/record-format.ts";
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
    ...header.sources.flatMap(sourceAttention),
    ...header.sources.flatMap(householdAttention),
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

const STATES: Readonly<Record<string, readonly [title: string, detail: string]>> = {
  stale: ["could not be fetched", "Its last good copy is used"],
  held: ["has changed too much", "Its last good copy is used until the change is confirmed"],
  dropped: ["is missing", "It cannot be read, so the list was built without it"],
};

function sourceAttention({ label, state, goodAt }: RecordedSource): Attention[] {
  const [what, then] = STATES[state] ?? [];
  if (what === undefined || then === undefined) return [];
  const from = goodAt === undefined ? "" : `, of ${momentText(goodAt)}`;
  return [{ tone: "warn", title: `${label} ${what}`, details: [`${then}${from}.`] }];
}

function householdAttention({ label, household }: RecordedSource): Attention[] {
  if (household === undefined) return [];
  const details = [
    `They stay reachable: ${someOf(household)}.`,
    html`If the source should block them, add them to <code>guards.may_block</code>. To see its
      rules: <code>rules-compiler why ${household[0]}</code>`,
  ];
  const count = countText(household.length, "name");
  return [{ tone: "warn", title: `${label} would block ${count} that people need`, details }];
}

/** Sources that lost more than half of their lines since the build before. */
function shrunkSources({ sources }: RecordHeader, { before }: LastChange): Attention[] {
  const linesBefore = new Map(before.sources.map(({ label, lines }) => [label, lines]));
  return sources.flatMap(({ label, lines, state }) => {
    const old = linesBefore.get(label) ?? 0;
    if (old < FEWEST_LINES || lines * 2 >= old || STATES[state] !== undefined) return [];
    const details = [
      `It had ${numberText(old)} lines in the build before and now has ${numberText(lines)}.`,
    ];
    return [{ tone: "warn" as const, title: `${label} lost more than half of its lines`, details }];
  });
}

/** Small sources change by half every day. */
const FEWEST_LINES = 100;
