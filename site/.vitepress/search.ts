interface Markdown {
  render(source: string, env: object): string;
}

/**
 * The search of the site. A page adds the words that people type, and that it does not use itself, in a comment below a heading:
 * `<!-- search: whitelist, unblock -->`. The functions run in browsers, too, and can use nothing around them.
 */
export const miniSearch = {
  options: {
    /** Names with hyphens and underscores, such as `same-host`, are one word and several. */
    tokenize: (text: string): string[] =>
      (text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? []).flatMap((word) =>
        /[-_]/.test(word) ? [word, ...word.split(/[-_]/)] : [word],
      ),
    processTerm: (term: string): string | null =>
      /^(?:an?|the|to|of|in|is|it|i|do|does|how|can|my|me|for|on|and|or|be|with|you|what|s|t)$/.test(
        term,
      )
        ? null
        : term,
  },
  searchOptions: {
    fuzzy: (term: string): number | false => (/^\p{L}{5,}$/u.test(term) ? 0.2 : false),
    prefix: (term: string): boolean => term.length > 2,
    boost: { title: 2, text: 2, titles: 1 },
    /** Pages for programmers repeat every word of the others; the five minutes and the evidence touch everything. */
    boostDocument: (id: string): number =>
      /\/(?:library|documents|specification|compatibility|start|evidence)(?:#|$)/.test(id) ? 0.3 : 1,
  },
};

/** How often these words count, beside those that a page uses itself. */
const WEIGHT = 5;

/** What the search knows of a page. */
export function searchable(source: string, env: object, markdown: Markdown): string {
  return markdown
    .render(source, env)
    .replaceAll(/<!-- search: ([^]*?) -->/g, (_, words: string) => `<p>${words}</p>`.repeat(WEIGHT));
}
