import type { CombinedListName, CombinedSource } from "./combined-format.ts";

/** Removes from `covers` the lists of which a list does not block everything, such as a newer one while the list is held. */
export function provenCovers(
  lists: CombinedSource["lists"],
  names: CombinedSource["names"],
): (CombinedListName | undefined)[] {
  const pairs = lists.flatMap((list, place) =>
    (list?.covers ?? []).map((name) => ({
      covering: 1 << place,
      covered: bitOf(lists, name),
      name,
      isProven: true,
    })),
  );
  if (pairs.length === 0) return [...lists];
  for (const { self, below } of names())
    for (const pair of pairs) if (isMore(self, pair) || isMore(below, pair)) pair.isProven = false;
  return lists.map((list, place) => {
    if (list === undefined) return undefined;
    const own = pairs.filter((pair) => pair.covering === 1 << place && pair.isProven);
    return { ...list, covers: own.map(({ name }) => name) };
  });
}

/** Whether the covered list blocks what the covering one does not. */
function isMore(
  blocking: number,
  { covering, covered }: { covering: number; covered: number },
): boolean {
  return (blocking & covered) !== 0 && (blocking & covering) === 0;
}

function bitOf(lists: CombinedSource["lists"], name: string): number {
  const place = lists.findIndex((list) => list?.name === name);
  return place === -1 ? 0 : 1 << place;
}
