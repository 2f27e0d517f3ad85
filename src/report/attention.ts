import type { HistoryEntry } from "../documents/facts.ts";
import { isPublishing } from "../builder/inspect-lists.ts";
import {
  Conditions,
  type ListedCondition,
  lastingConditions,
} from "../builder/state/conditions.ts";
import type { PublishedBuild } from "../builder/state/kept-builds.ts";
import { type FoundHold, holdText, readHold } from "../builder/state/list-state.ts";
import {
  countText,
  listCommandLine,
  numberText,
  someOf,
  timestampText,
} from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import { type Attention, conditionAttention, html } from "../pages/html.ts";
import type { RecordHeader } from "../record/build-record.ts";
import { HistoryLog } from "../record/record-file.ts";
import { isDegraded } from "../sources/acquire.ts";
import type { LastChange } from "./report-page.ts";

interface InspectedList {
  readonly header: RecordHeader;
  readonly condition: ListCondition;
  readonly change: LastChange | undefined;
}

/** What a person should look at, the most important first. */
export function attentionOf({ header, condition, change }: InspectedList): Attention[] {
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
    <code>${listCommandLine("hold --end", undefined)}</code>`;
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
        `A run on ${timestampText(at)} made a list${size}. ${guards.length === 1 ? "The guard" : "Guards"} ${someOf(guards)} refused it.`,
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

/** What happened to a list besides its builds. */
export interface ListCondition {
  readonly hold?: FoundHold | undefined;
  /** The refusal of a newer list. */
  readonly refusal?: HistoryEntry | undefined;
  /** What lasts. */
  readonly conditions: readonly ListedCondition[];
  /** What is wrong with the log of the list. */
  readonly problems: readonly string[];
}

/** Whether a list is held, and whether a newer one was refused. */
export async function listCondition(build: PublishedBuild, host: Host): Promise<ListCondition> {
  const hold = await readHold(build.path, host);
  const stored = (await new Conditions(build.path, host).read()) ?? [];
  const conditions = lastingConditions(stored.map((one) => ({ ...one, list: "" })));
  try {
    const entries = await new HistoryLog(build.path, host).entries();
    const last = entries.findLast((entry) => entry.event === "refused" || isPublishing(entry));
    return {
      hold,
      ...(last?.event === "refused" && { refusal: last }),
      conditions,
      problems: [],
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { hold, conditions, problems: ["Its log cannot be read"] };
  }
}
