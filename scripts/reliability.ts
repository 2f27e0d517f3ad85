import { readFileSync } from "node:fs";

/** The suites that report numbers, with their headings. */
const SUITES: Readonly<Record<string, string>> = {
  "test/meaning/dns-engine.long.test.ts":
    "Agreement with AdGuard's DNS engine on random lists and names",
  "test/explain/why-typical.nightly.test.ts":
    "`why` on twenty real lists, compared with a full search of all of them",
  "test/formats/resolvers.nightly.test.ts":
    "Formats on the real servers: listed names, subdomains, similar names, exceptions",
  "test/formats/squid.alone.test.ts": "The same for squid",
  "test/publish/zone-transfer.nightly.test.ts":
    "Zone transfer from BIND to four other servers, one of them killed meanwhile",
  "test/publish/subscribers.alone.test.ts":
    "Subscribers that apply differences, with our client and AdGuard's",
  "test/package/release-tools.long.test.ts": "Differences applied by AdGuard's own tools",
  "test/publish/publish-faults.long.test.ts": "Fault injection into every system call of a publish",
  "test/publish/publish-kills.long.test.ts":
    "A publisher killed at random times while readers read",
  "test/builder/simultaneous-runs.long.test.ts": "Two concurrent runs for the same list",
  "test/sources/hostile-server.nightly.test.ts": "Servers that lie, stall, flood and redirect",
  "test/host/private-addresses.long.test.ts": "Redirects and names that lead into private networks",
  "test/engine/safe-grammar.long.test.ts":
    "Lines that try to do more than their source is trusted with",
  "test/engine/metamorphic.long.test.ts":
    "Metamorphic tests: changes to lists that must not affect the result",
  "test/cli/secrets.long.test.ts":
    "Search for keys and passwords in everything that is written or printed",
  "test/report/report-page.long.test.ts": "The report in a browser",
  "test/package/week.nightly.test.ts":
    "A week of cron and of `serve` with the tarball, the wheel, the deb and the executable, then the next version",
  "test/package/container.nightly.test.ts":
    "The container image, and the steps of the README for a new user (milliseconds to a list)",
};

/** Where `npm run figures` keeps what suites reported. */
export const KEPT = "bench/results/reliability.json";

/** What a suite reported in its last run. */
export interface KeptFigures {
  readonly commit: string;
  readonly date: string;
  /** The size of the gate, or the full size of the nightly run. */
  readonly size: string;
  readonly said: readonly string[];
}

/** Returns a page with the output of each suite in its last run. */
export function withReliability(page: string): string {
  const marker = /(<!-- reliability -->\n)[^]*?(<!-- \/reliability -->)/;
  return page.replace(marker, (_, start: string, end: string) => `${start}${suites()}${end}`);
}

function suites(): string {
  const figures = JSON.parse(readFileSync(KEPT, "utf8")) as Record<string, KeptFigures>;
  return Object.entries(SUITES)
    .flatMap(([file, about]) => {
      const kept = figures[file];
      if (kept === undefined) return [];
      const { commit, date, size, said } = kept;
      const output = `\`\`\`text\n${said.join("\n")}\n\`\`\``;
      const from = `\`${file}\`, ${size} size, ${date}, commit \`${commit}\``;
      return [
        `<details>\n<summary>${about.replaceAll("`", "")}</summary>\n\n${from}\n\n${output}\n\n</details>\n`,
      ];
    })
    .join("\n");
}
