import { type AnswerTest, type FormatFiles, answerOf } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/**
 * A response policy zone: the node of the name itself, else the wildcard at its closest encloser (RFC 4592). A node exists
 * when it or anything below it has a record, so it hides the wildcards above.
 */
export function rpzAnswers({ block }: FormatFiles): AnswerTest {
  const policies = new Map<string, readonly string[]>();
  const nodes = new Set<string>();
  for (const line of linesOf(block, ";")) {
    if (line.startsWith("$") || line.startsWith("@ ")) continue;
    const [owner = "", type = "", target = ""] = line.split(/\s+/);
    if (!["CNAME", "A", "AAAA"].includes(type) || target === "" || owner.endsWith("."))
      throw new RefusedFile(line);
    const known = policies.get(owner) ?? [];
    const record = `${type} ${target.toLowerCase()}`;
    // A second record beside a CNAME makes the zone invalid.
    if (known.length > 0 && [...known, record].some((one) => one.startsWith("CNAME")))
      throw new RefusedFile(line);
    policies.set(owner, [...known, record]);
    for (const node of withAncestors(owner)) nodes.add(node);
  }
  return (name) => {
    if (nodes.has(name)) return meaningOf(policies.get(name));
    const encloser = withAncestors(name).find((parent) => nodes.has(parent));
    return encloser === undefined ? "" : meaningOf(policies.get(`*.${encloser}`));
  };
}

const ACTIONS: Readonly<Record<string, string>> = {
  "CNAME rpz-passthru.": "",
  "CNAME .": "NXDOMAIN",
  "CNAME *.": "NOERROR",
};

function meaningOf(records: readonly string[] = []): string {
  const said = answerOf(records);
  return ACTIONS[said] ?? said.replace(/^(CNAME .*)\.$/, "$1");
}
