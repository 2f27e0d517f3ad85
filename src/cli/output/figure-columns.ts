/** Figures below their headings, each column as wide as it has to be. */
export function figureColumns(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): { readonly head: string; readonly rows: readonly string[] } {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => cell.padStart(widths[column]!)).join("  ");
  return { head: line(headings), rows: rows.map(line) };
}
