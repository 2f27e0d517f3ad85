/** What a command printed with `--json` about its lists. */
export function listsIn(stdout: string): unknown[] {
  return (JSON.parse(stdout) as { lists: unknown[] }).lists;
}

/** The same about its only list. */
export function listIn(stdout: string): unknown {
  const lists = listsIn(stdout);
  if (lists.length !== 1) throw new Error(`${lists.length} lists instead of one: ${stdout}`);
  return lists[0];
}

/** What `why` printed about the only name, for the only list. */
export function nameIn(stdout: string): unknown {
  const { names } = listIn(stdout) as { names: unknown[] };
  if (names.length !== 1) throw new Error(`${names.length} names instead of one: ${stdout}`);
  return names[0];
}

/** The lines of the only list, by fate, as `stats --fate` printed them. */
export function fatesIn(stdout: string): Record<string, number> {
  return (listIn(stdout) as { fates: Record<string, number> }).fates;
}
