import type { OwnBlocks } from "../transformations/own-blocks.ts";
import { Protection } from "../transformations/protect.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { PublishedRules } from "./compile-options.ts";
import { isAcceptedKind } from "./household-names.ts";
import type { Plan, PlannedSource } from "./plan.ts";
import type { ProtectedSet } from "./protected-names.ts";

interface Judges {
  /** Whether a source is fully trusted, by its index. */
  readonly isFull: (source: number) => boolean;
  readonly own: OwnBlocks;
  readonly context: StageContext;
}

/** The protection of a list. */
export function protectionOf(
  { names, household }: ProtectedSet,
  published: PublishedRules,
  { sources }: Plan,
  { isFull, own, context }: Judges,
): Protection {
  return new Protection(
    names,
    {
      kinds: household,
      accepts: (index, kind) =>
        isAcceptedKind(kind) && mayBlockKind(sources[index]!, kind, published),
    },
    context,
    { isTrusted: isFull, own },
  );
}

/** Whether a source is new to the published list, or already blocks names of a kind in it. */
function mayBlockKind(
  { shown }: PlannedSource,
  kind: string,
  { sources, kinds }: PublishedRules,
): boolean {
  return sources?.has(shown) !== true || kinds?.get(shown)?.[kind] !== undefined;
}
