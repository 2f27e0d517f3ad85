import { copyFileSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../scripts/anchor.ts";
import { writePlayground } from "../../scripts/playground.ts";
import { changeMarkdown } from "./markdown.ts";
import { menu } from "./menu.ts";
import { miniSearch, searchable } from "./search.ts";

/** The documentation as a site: the same files, with a menu and a search. */
const root = resolve(import.meta.dirname, "../..");
const docs = join(root, "docs");
const vue = resolve(import.meta.dirname, "../node_modules/vue");
const repository = "https://github.com/rules-compiler/rules-compiler";
const address = "https://rules-compiler.github.io/rules-compiler/";
const base = process.env.SITE_BASE ?? "/";
const title = "rules-compiler";
const description = "Compiles DNS blocklists: many lists in, one list out, and every line accounted for";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const isReleased = readFileSync(join(root, "CHANGELOG.md"), "utf8").includes(`\n## ${version}`);

export default defineConfig({
  title,
  description,
  lang: "en",
  srcDir: "../docs",
  // Reasons of the code, for those who change it: they are read in the repository.
  srcExclude: ["decisions/**"],
  outDir: "./dist",
  cacheDir: "./cache",
  base,
  cleanUrls: true,
  lastUpdated: false,
  head: [
    ["link", { rel: "icon", href: `${base}icon.svg`, type: "image/svg+xml" }],
    ["meta", { name: "theme-color", content: "#14171d" }],
    ["meta", { property: "og:type", content: "website" }],
    ["meta", { property: "og:site_name", content: title }],
    ["meta", { property: "og:image", content: `${address}card.png` }],
    ["meta", { property: "og:image:alt", content: `${title}: every line has a fate` }],
    ["meta", { name: "twitter:card", content: "summary_large_image" }],
  ],
  transformHead: ({ pageData }) => [
    ["meta", { property: "og:title", content: pageData.title || title }],
    ["meta", { property: "og:description", content: pageData.description || description }],
    [
      "meta",
      {
        property: "og:url",
        content: address + pageData.relativePath.replace(/(?:index)?\.md$/, ""),
      },
    ],
  ],
  transformPageData: ({ relativePath, frontmatter }) => {
    const [first = ""] = readFileSync(join(docs, relativePath), "utf8").split("\n", 1);
    if (/^<!-- (?:Generated|Written|Made) by/.test(first)) frontmatter.editLink = false;
  },
  buildEnd: async ({ outDir }) => {
    await writePlayground(join(outDir, "playground"));
    // The address that the schema names as its own.
    copyFileSync(join(root, "schema.json"), join(outDir, "schema.json"));
  },
  themeConfig: {
    logo: "/icon.svg",
    nav: [
      { text: "Start", link: "/guide/start" },
      // A page of its own, which the site's router does not know.
      { text: "Playground", link: "/playground/", target: "_self" },
      { text: "Reference", link: "/reference/" },
      {
        text: isReleased ? version : `${version}, unreleased`,
        link: `${repository}/blob/main/CHANGELOG.md`,
      },
    ],
    sidebar: menu,
    search: { provider: "local", options: { miniSearch, _render: searchable } },
    outline: [2, 3],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: "Edit this page" },
    socialLinks: [{ icon: "github", link: repository }],
    footer: { message: "MIT licence. The pages ask no other server, and count nothing." },
  },
  // The pages are outside this folder, so their framework has to be found by path.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: join(vue, "dist/vue.runtime.esm-bundler.js") },
        { find: /^vue\/server-renderer$/, replacement: join(vue, "server-renderer/index.mjs") },
      ],
    },
  },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    anchor: { slugify: anchorOf },
    config: (markdown) => changeMarkdown(markdown, { root, docs, repository }),
  },
});
