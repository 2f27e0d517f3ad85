import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { defineConfig } from "vitepress";
import { writePlayground } from "../../scripts/playground.ts";

/** The documentation as a site: the same files, with a menu. Links to other files lead to the repository. */
const root = resolve(import.meta.dirname, "../..");
const docs = join(root, "docs");
const vue = resolve(import.meta.dirname, "../node_modules/vue");
const REPOSITORY = "https://github.com/rules-compiler/rules-compiler";

const decisions = readdirSync(join(docs, "decisions"))
  .filter((file) => /^\d{4}-.*\.md$/.test(file))
  .map((file) => ({
    text: file.replace(/\.md$/, "").replaceAll("-", " "),
    link: `/decisions/${file.replace(/\.md$/, "")}`,
  }));

export default defineConfig({
  title: "rules-compiler",
  description: "Compiles DNS blocklists: many lists in, one list out, and every line accounted for",
  srcDir: "../docs",
  outDir: "./dist",
  cacheDir: "./cache",
  base: process.env.SITE_BASE ?? "/",
  cleanUrls: true,
  lastUpdated: false,
  buildEnd: async ({ outDir }) => await writePlayground(join(outDir, "playground")),
  themeConfig: {
    nav: [
      // A page of its own, which the site's router does not know.
      { text: "Playground", link: "/playground/", target: "_self" },
      { text: "Start", link: "/guide/start" },
      { text: "Guides", link: "/guide/adopt" },
      { text: "Reference", link: "/reference/configuration" },
      { text: "How it works", link: "/how-it-works" },
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          { text: "Playground", link: "/guide/playground" },
          { text: "Five minutes", link: "/guide/start" },
          { text: "Install", link: "/guide/install" },
          { text: "Import your current lists", link: "/guide/adopt" },
          { text: "Coming from other software", link: "/guide/coming-from" },
          { text: "Compared with other software", link: "/guide/comparison" },
          { text: "Cookbook", link: "/guide/cookbook" },
          { text: "For self-hosters", link: "/roles/self-hoster" },
          { text: "For maintainers of lists", link: "/roles/maintainer" },
          { text: "For operators", link: "/roles/operator" },
        ],
      },
      {
        text: "Use",
        items: [
          { text: "When something is blocked", link: "/guide/when-something-is-blocked" },
          { text: "Know what is in your list", link: "/guide/why" },
          { text: "Which lists block your queries", link: "/guide/traffic" },
          { text: "The build as a table", link: "/guide/dataset" },
          { text: "Threat feeds", link: "/guide/feeds" },
          { text: "Popularity", link: "/guide/popularity" },
          { text: "Several lists", link: "/guide/several-lists" },
          { text: "Writing lists", link: "/guide/writing-lists" },
        ],
      },
      {
        text: "Operate",
        items: [
          { text: "serve", link: "/guide/serve" },
          { text: "Container", link: "/guide/container" },
          { text: "Kubernetes", link: "/guide/kubernetes" },
          { text: "systemd", link: "/guide/systemd" },
          { text: "cron", link: "/guide/cron" },
          { text: "Metrics and alerts", link: "/guide/monitoring" },
          { text: "When a night goes wrong", link: "/guide/when-a-night-goes-wrong" },
          { text: "Without a network", link: "/guide/air-gapped" },
        ],
      },
      {
        text: "Publish",
        items: [
          { text: "One list, every resolver", link: "/guide/resolvers" },
          { text: "Zone transfer", link: "/guide/zone-transfer" },
          { text: "A git branch or a bucket", link: "/guide/publish-elsewhere" },
          { text: "Hooks: reload, message", link: "/guide/hooks" },
          { text: "Prove", link: "/guide/prove" },
          { text: "GitHub Action", link: "/guide/github-action" },
          {
            text: "Resolvers",
            collapsed: true,
            items: [
              { text: "unbound", link: "/resolvers/unbound" },
              { text: "BIND", link: "/resolvers/bind" },
              { text: "Knot Resolver", link: "/resolvers/knot-resolver" },
              { text: "PowerDNS Recursor", link: "/resolvers/powerdns-recursor" },
              { text: "dnsdist", link: "/resolvers/dnsdist" },
              { text: "dnsmasq", link: "/resolvers/dnsmasq" },
              { text: "smartdns", link: "/resolvers/smartdns" },
            ],
          },
        ],
      },
      {
        text: "Integrate",
        items: [
          { text: "As a library", link: "/guide/library" },
          { text: "From HostlistCompiler's API", link: "/guide/hostlist-compiler-api" },
          { text: "Plugins", link: "/guide/plugins" },
          { text: "DNS API", link: "/guide/dns-api" },
          { text: "Write another implementation", link: "/guide/porting" },
        ],
      },
      {
        text: "Understand",
        items: [
          { text: "How it works", link: "/how-it-works" },
          { text: "One bad upstream spoils nothing", link: "/guide/bad-upstreams" },
          { text: "Performance", link: "/guide/large-lists" },
          { text: "Reliability", link: "/guide/reliability" },
          { text: "Scale", link: "/scale" },
        ],
      },
      {
        text: "Reference",
        items: [
          { text: "Configuration", link: "/reference/configuration" },
          { text: "Transformations", link: "/reference/transformations" },
          { text: "Fates of lines", link: "/reference/fates" },
          { text: "Documents", link: "/reference/documents" },
          { text: "Formats", link: "/reference/formats" },
          { text: "Command line", link: "/reference/command-line" },
          { text: "Library API", link: "/reference/library" },
          { text: "Errors", link: "/reference/errors" },
          { text: "Compatibility", link: "/reference/compatibility" },
          { text: "Specification", link: "/reference/specification" },
        ],
      },
      { text: "Decisions", collapsed: true, items: decisions },
    ],
    search: { provider: "local" },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: REPOSITORY }],
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
    config(markdown) {
            // Shows the file name above a block that readers should save as a file.
      const fence = markdown.renderer.rules.fence!;
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const [, title = ""] = /title="([^"]+)"/.exec(tokens[index]!.info) ?? [];
        const html = fence(tokens, index, ...rest);
        const isFile = title.includes(".");
        return isFile ? `<p class="file-name"><code>${markdown.utils.escapeHtml(title)}</code></p>${html}` : html;
      };
      markdown.core.ruler.push("outside", (state) => {
        for (const token of state.tokens.flatMap((one) => one.children ?? [])) {
          const href = token.attrGet("href");
          if (href === null || /^(?:[a-z]+:|#|\/)/i.test(href)) continue;
          const [path, anchor = ""] = href.split("#") as [string, string?];
          const target = resolve(dirname(join(docs, state.env.relativePath as string)), path);
          const isInside = target.startsWith(`${docs}/`) && target.endsWith(".md");
          if (isInside || !existsSync(target)) continue;
          const outside = `${REPOSITORY}/blob/main/${relative(root, target)}`;
          token.attrSet("href", anchor === "" ? outside : `${outside}#${anchor}`);
        }
      });
    },
  },
});
