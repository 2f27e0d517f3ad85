/** The names of a hosts line, as strings: for the lines that carry several. */

/** The line without the names that `keep` refuses, its other bytes untouched; undefined when no name is left. */
export function filterNames(line: string, keep: (name: string) => boolean): string | undefined {
  const hash = line.indexOf("#");
  const head = hash === -1 ? line : line.slice(0, hash);
  let kept = 0;
  let isAddress = true;
  const filtered = head.replace(/\s*\S+/g, (token) => {
    if (isAddress) {
      isAddress = false;
      return token;
    }
    if (!keep(token.trim())) return "";
    kept++;
    return token;
  });
  return kept === 0 ? undefined : filtered + line.slice(head.length);
}
