import { Html, html } from "./html.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** A page with the style of all pages, and no script. */
export function htmlPage(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${new Html(`<style>${PAGE_STYLE}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}
