import { codeEntry } from "../diagnostics/codes.ts";
import { warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Config } from "./config.ts";
import type { ConfigNode } from "./config-node.ts";
import type { ConfigProblems } from "./config-problems.ts";

/** Reports home pages that are not addresses of the web. */
export function reportHomepages(
  root: ConfigNode & { kind: "object" },
  configs: readonly Config[],
  problems: ConfigProblems,
): void {
  const { offset } = root.entries.find(({ key }) => key === "homepage")?.node ?? root;
  for (const text of new Set(configs.map(({ homepage = "" }) => homepage))) {
    if (text === "" || isWebAddress(text)) continue;
    const message = `homepage is not an http: or https: URL: ${printable(text, 60)}`;
    const { hint } = codeEntry("homepage-not-url");
    problems.report(() => warningOf("homepage-not-url", message, { hint, ...problems.at(offset) }));
  }
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}
