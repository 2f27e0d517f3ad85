interface Section {
  text: string;
  items: { text: string; link: string }[];
}

/** The pages that a person needs; the others are linked from these. A test holds their number. */
export const menu: Section[] = [
  {
    text: "Start",
    items: [
      { text: "Five minutes", link: "/guide/start" },
      { text: "Install", link: "/guide/install" },
      { text: "Come from other software", link: "/guide/come-from" },
      { text: "Cookbook", link: "/guide/cookbook" },
    ],
  },
  {
    text: "Use",
    items: [
      { text: "Every day", link: "/guide/every-day" },
      { text: "When something is blocked", link: "/guide/when-something-is-blocked" },
      { text: "Questions you can ask", link: "/guide/questions" },
      { text: "Convert a list", link: "/guide/convert" },
      { text: "Several lists", link: "/guide/several-lists" },
      { text: "Threat feeds", link: "/guide/feeds" },
    ],
  },
  {
    text: "Run",
    items: [
      { text: "Run it", link: "/guide/run" },
      { text: "Serve", link: "/guide/serve" },
      { text: "Every resolver", link: "/guide/resolvers" },
      { text: "Reload and message: hooks", link: "/guide/hooks" },
      { text: "Prove", link: "/guide/prove" },
      { text: "When a night goes wrong", link: "/guide/when-a-night-goes-wrong" },
    ],
  },
  {
    text: "Trust",
    items: [
      { text: "How it works", link: "/how-it-works" },
      { text: "One bad upstream", link: "/guide/bad-upstreams" },
      { text: "Evidence", link: "/guide/evidence" },
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "Configuration", link: "/reference/configuration" },
      { text: "Formats", link: "/reference/formats" },
      { text: "Command line", link: "/reference/command-line" },
      { text: "Fates of lines", link: "/reference/fates" },
      { text: "Specification", link: "/reference/specification" },
      { text: "All of the reference", link: "/reference/" },
    ],
  },
];
