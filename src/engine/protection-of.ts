import type { BlockedBefore } from "../transformations/newly-blocked.ts";
import type { OwnBlocks } from "../transformations/own-blocks.ts";
import { Protection } from "../transformations/protect.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { PublishedRules } from "./compile-options.ts";
import type { Plan } from "./plan.ts";
import type { ProtectedSet } from "./protected-names.ts";

/** The published list. */
interface Before extends PublishedRules {
  /** What it blocks of the names that must not be newly blocked; undefined without a list. */
  readonly blocked: ReadonlyMap<string, BlockedBefore> | undefined;
}

interface Judges {
  /** Whether a source is fully trusted, by its index. */
  readonly isFull: (source: number) => boolean;
  readonly own: OwnBlocks;
  readonly context: StageContext;
}

/** The protection of a list. What the published list blocks for all clients is not newly blocked. */
export function protectionOf(
  { names, household }: ProtectedSet,
  before: Before,
  { sources }: Plan,
  { isFull, own, context }: Judges,
): Protection {
  const isFree = (name: string): boolean => before.blocked?.get(name)?.isForAll !== true;
  return new Protection(
    names,
    {
      essential: household.essential.filter(isFree),
      optional: household.optional.filter(isFree),
      isNewSource: (index) => before.sources?.has(sources[index]!.shown) !== true,
    },
    context,
    { isTrusted: isFull, own },
  );
}
