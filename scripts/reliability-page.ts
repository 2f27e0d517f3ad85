import { readFileSync } from "node:fs";

/** The suites that report numbers, with their headings. */
const SUITES: Readonly<Record<string, string>> = {
  "dns-engine.test.ts": "Agreement with AdGuard's DNS engine on random lists and names",
  "why-typical.test.ts": "`why` on twenty real lists, compared with a full search of all of them",
  "alone/resolvers.test.ts":
    "Formats on the real servers: listed names, subdomains, similar names, exceptions",
  "alone/squid.test.ts": "The same for squid",
  "zone-transfer.test.ts":
    "Zone transfer from BIND to four other servers, one of them killed meanwhile",
  "alone/subscribers.test.ts": "Subscribers that apply differences, with our client and AdGuard's",
  "release-tools.test.ts": "Differences applied by AdGuard's own tools",
  "publish-faults.test.ts": "Fault injection into every system call of a publish",
  "publish-kills.test.ts": "A publisher killed at random times while readers read",
  "simultaneous-runs.test.ts": "Two concurrent runs for the same list",
  "alone/hostile-server.test.ts": "Servers that lie, stall, flood and redirect",
  "private-addresses.test.ts": "Redirects and names that lead into private networks",
  "safe-grammar.test.ts": "Lines that try to do more than their source is trusted with",
  "metamorphic.test.ts": "Metamorphic tests: changes to lists that must not affect the result",
  "secrets.test.ts": "Search for keys and passwords in everything that is written or printed",
  "report-page.test.ts": "The report in a browser",
  "alone/container.test.ts":
    "The container image, and the steps of the README for a new user (milliseconds to a list)",
};

/** The output of the suites in their last complete run. */
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

The gate that every change has to pass tests our guarantees with the real software. This is the output of the suites in a complete run
(\`npm run test:slow\`).

${sections.join("\n\n")}
`;
}
