/** A fenced block of a page: its language, the `title="…"` behind it, and its text. */
export interface Block {
  readonly language: string;
  readonly title?: string;
  readonly text: string;
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)(?: title="([^"]+)")?\n([^]*?)^```$/gm)].map(
    ([, language, title, text]) => ({
      language: language!,
      text: text!,
      ...(title === undefined ? {} : { title }),
    }),
  );
}
