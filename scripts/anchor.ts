/** The anchor of a heading: GitHub's, which the site uses, too. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** Links to the headings of a page that are code; `more` follows the code in each. */
export function linksTo(names: readonly string[], page = "", more = ""): string {
  return names.map((name) => `[\`${name}\`](${page}#${anchorOf(name + more)})`).join(" · ");
}
