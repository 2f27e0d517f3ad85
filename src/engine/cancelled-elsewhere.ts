import type { PlannedSource } from "./plan.ts";
import type { SourceReader } from "./source-reader.ts";

/**
 * For each source, the names whose rules other sources cancel. Only a source with its own Compress needs them, before the
 * others are read: a rule that will be cancelled must not cover others.
 */
export async function cancelledElsewhere(
  sources: readonly PlannedSource[],
  reader: SourceReader,
): Promise<(source: PlannedSource) => ReadonlySet<string>> {
  const cancelled = new Map<PlannedSource, ReadonlySet<string>>();
  const compressed = sources.filter(({ passes }) =>
    passes.steps.some(({ name }) => name === "Compress"),
  );
  const [first] = compressed;
  if (first !== undefined)
    for (const source of sources)
      if (compressed.length > 1 || source !== first)
        cancelled.set(source, await reader.cancelledBy(source));
  return (source) => {
    const others = [...cancelled].filter(([other]) => other !== source);
    return new Set(others.flatMap(([, names]) => [...names]));
  };
}
