/** The names of a hosts line, as strings: for lines with several names. */

/** Removes the names that `keep` rejects and leaves the other bytes unchanged. Undefined if no name is left. */
export function filterNames(line: string, keep: (name: string) => boolean): string | undefined {
  return mapNames(line, (name) => (keep(name) ? name : undefined));
}

/** Replaces the names, or removes them, and leaves the other bytes unchanged. Undefined if no name is left. */
export function mapNames(
  line: string,
  map: (name: string) => string | undefined,
): string | undefined {
  const hash = line.indexOf("#");
  const head = hash === -1 ? line : line.slice(0, hash);
  let mapped = "";
  let kept = 0;
  let end = 0;
  for (const token of head.matchAll(/\S+/g)) {
    const isAddress = end === 0;
    const word = isAddress ? token[0] : map(token[0]);
    if (word !== undefined) {
      mapped += head.slice(end, token.index) + word;
      if (!isAddress) kept++;
    }
    end = token.index + token[0].length;
  }
  return kept === 0 ? undefined : mapped + line.slice(end);
}
