/** The names of a hosts line, as strings: for lines with several names. */

/** Removes the names that `keep` rejects and leaves the other bytes unchanged. Undefined if no name is left. */
export function filterNames(line: string, keep: (name: string) => boolean): string | undefined {
  const hash = line.indexOf("#");
  const head = hash === -1 ? line : line.slice(0, hash);
  let filtered = "";
  let kept = 0;
  let end = 0;
  for (const token of head.matchAll(/\S+/g)) {
    const tokenEnd = token.index + token[0].length;
    const isAddress = end === 0;
    if (isAddress || keep(token[0])) {
      filtered += head.slice(end, tokenEnd);
      if (!isAddress) kept++;
    }
    end = tokenEnd;
  }
  return kept === 0 ? undefined : filtered + line.slice(end);
}
