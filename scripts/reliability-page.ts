import { readFileSync } from "node:fs";

/** What each suite is about; those that say nothing in figures are not here. */
const SUITES: Readonly<Record<string, string>> = {
  "dns-engine.test.ts": "Our verdicts beside AdGuard's DNS engine, random lists and names",
  "why-typical.test.ts": "`why` on twenty real lists, beside a slow search through all of them",
  "alone/resolvers.test.ts":
    "Formats on the real servers: listed names, names below, names that only look alike, exceptions",
  "alone/squid.test.ts": "The same for squid",
  "zone-transfer.test.ts":
    "Zone transfer from BIND to four other servers, one of them killed on the way",
  "alone/subscribers.test.ts": "Subscribers by differences, with our client and AdGuard's",
  "release-tools.test.ts": "Differences applied by AdGuard's own tools",
  "publish-faults.test.ts": "Every system call of a publish made to fail, one after the other",
  "publish-kills.test.ts": "A publisher killed at random moments while readers read",
  "simultaneous-runs.test.ts": "Two runs at the same list at the same time",
  "alone/hostile-server.test.ts": "Servers that lie, stall, flood and redirect",
  "private-addresses.test.ts": "Redirects and names that lead into private networks",
  "safe-grammar.test.ts": "Lines that try to do more than their source is trusted with",
  "metamorphic.test.ts": "Lists rearranged in ways that must not matter",
  "secrets.test.ts": "Keys and passwords looked for in everything that is written or said",
  "report-page.test.ts": "The report in a browser",
  "alone/container.test.ts":
    "The image, and newcomers with nothing but the README (milliseconds to a list)",
};

/** What the suites found when they were last run as a whole, in their own words. */
export function reliabilityPage(): string {
  const figures = JSON.parse(readFileSync("bench/results/reliability.json", "utf8")) as {
    file: string;
    said: string;
  }[];
  const sections = Object.entries(SUITES).flatMap(([file, about]) => {
    const said = figures.filter((one) => one.file === file).map((one) => one.said);
    if (said.length === 0) return [];
    return [`## ${about}\n\n\`test/slow/${file}\`\n\n\`\`\`text\n${said.join("\n")}\n\`\`\``];
  });
  return `<!-- Written by scripts/generate.ts from bench/results/reliability.json, which the slow tests write. -->

# Reliability

What is promised is tried, with the real software, in the gate that every change has to pass. These are the words of the suites themselves,
from a whole run (\`npm run test:slow\`).

${sections.join("\n\n")}
`;
}
