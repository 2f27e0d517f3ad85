import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { MarkdownRenderer } from "vitepress";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

/** Where links to files of the repository lead that are not pages of the site. */
interface Outside {
  readonly root: string;
  readonly docs: string;
  readonly repository: string;
}

/** What the site does with a page: file names above blocks, tables that phones show as cards, links out of the site. */
export function changeMarkdown(markdown: MarkdownRenderer, outside: Outside): void {
  const fence = markdown.renderer.rules.fence!;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const [, title = ""] = /title="([^"]+)"/.exec(tokens[index]!.info) ?? [];
    const html = fence(tokens, index, ...rest);
    return title.includes(".")
      ? `<p class="file-name"><code>${markdown.utils.escapeHtml(title)}</code></p>${html}`
      : html;
  };
  markdown.core.ruler.push("tables", ({ tokens }) => labelCells(tokens));
  markdown.core.ruler.push("outside", ({ tokens, env }) => {
    for (const token of tokens.flatMap((one) => one.children ?? [])) {
      const href = token.attrGet("href");
      if (href === null || /^(?:[a-z]+:|#|\/)/i.test(href)) continue;
      const target = outsideOf(href, (env as { relativePath: string }).relativePath, outside);
      if (target !== undefined) token.attrSet("href", target);
    }
  });
}

/** The address in the repository of a file that is not a page. */
function outsideOf(href: string, page: string, { root, docs, repository }: Outside): string | undefined {
  const [path = "", anchor] = href.split("#");
  const target = resolve(dirname(join(docs, page)), path);
  const isPage =
    target.startsWith(`${docs}/`) &&
    target.endsWith(".md") &&
    !target.startsWith(`${docs}/decisions/`);
  if (isPage || !existsSync(target)) return undefined;
  return `${repository}/blob/main/${relative(root, target)}${anchor === undefined ? "" : `#${anchor}`}`;
}

const ROLES: Readonly<Record<string, string>> = {
  table_open: "table",
  thead_open: "rowgroup",
  tbody_open: "rowgroup",
  tr_open: "row",
  th_open: "columnheader",
  td_open: "cell",
};

/** A word that a narrow column has to break; shorter ones stay whole. */
const LONG = /\S{20}/;

/** On a phone, each row is a card, in which a cell has the heading of its column. A table stays one for those who hear it. */
function labelCells(tokens: readonly Token[]): void {
  let headings: string[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    const role = ROLES[token.type];
    if (role === undefined) continue;
    token.attrSet("role", role);
    if (role === "table") headings = [];
    else if (role === "row") column = 0;
    else if (role === "columnheader") {
      headings.push(textOf(tokens[index + 1]!));
      // A corner without a text is not a heading.
      if (headings.at(-1) === "") {
        token.attrSet("role", "cell");
        token.tag = tokens[index + 2]!.tag = "td";
      }
    }
    else if (role === "cell") {
      const label = headings[column++] ?? "";
      if (label !== "") token.attrSet("data-label", label);
      for (const part of tokens[index + 1]!.children ?? [])
        if (part.type === "code_inline" && LONG.test(part.content)) part.attrJoin("class", "long");
    }
  }
}

function textOf({ children }: Token): string {
  return (children ?? []).map(({ type, content }) => (/^(?:text|code_inline)$/.test(type) ? content : "")).join("");
}
