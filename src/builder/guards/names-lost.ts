import { type Diagnostic, errorOf } from "../../diagnostics/render.ts";
import { countText, numberText, someOf } from "../../diagnostics/text.ts";
import { effectiveDiff } from "../../explain/list-change.ts";
import { PlainList } from "../../explain/plain-list.ts";
import type { LastPublish } from "../state/list-state.ts";

/** The share of the published names that may vanish because sources cannot be read. */
const MOST = 0.3;

/** A source that cannot be read and has no copy. */
export interface UnreadSource {
  readonly label: string;
  /** Its key in the state of the last publish. */
  readonly source: string;
}

/** How many published lines the list may lose with these sources; undefined if they are few enough. Without a state, that is any number. */
export function mostLost(
  unread: readonly UnreadSource[],
  last: LastPublish | undefined,
): number | undefined {
  if (unread.length === 0) return undefined;
  if (last === undefined) return Infinity;
  const gone = new Set(unread.map(({ source }) => source));
  const lines = last.sources
    .filter(({ source }) => gone.has(source))
    .reduce((sum, { kept }) => sum + kept, 0);
  return lines > last.rules * MOST ? lines : undefined;
}

/** Refuses a list that would lose many names with sources that cannot be read. Other sources may have these names, too. */
export async function namesLost(
  unread: readonly UnreadSource[],
  most: number,
  published: Uint8Array,
  fresh: Uint8Array,
): Promise<Diagnostic[]> {
  const before = await PlainList.read(published);
  const { freed } = effectiveDiff(before, await PlainList.read(fresh));
  const lost = Math.min(freed, most);
  const names = before.size;
  if (lost <= names * MOST) return [];
  const labels = someOf(unread.map(({ label }) => label));
  return [
    errorOf(
      "names-lost",
      `The list would lose ${countText(lost, "name")} of ${numberText(names)}, because sources cannot be read and have no copy: ${labels}`,
    ),
  ];
}
