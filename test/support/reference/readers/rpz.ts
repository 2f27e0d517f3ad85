import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/**
 * A response policy zone: the node of the name itself, else the wildcard at its closest encloser (RFC 4592). A node exists
 * when it or anything below it has a record, so it hides the wildcards above.
 */
export function readRpz({ block }: FormatFiles): BlockTest {
  const policies = new Map<string, "pass" | "answer">();
  const nodes = new Set<string>();
  for (const line of linesOf(block, ";")) {
    if (line.startsWith("$") || line.startsWith("@ ")) continue;
    const [owner = "", type = "", target = ""] = line.split(/\s+/);
    if (!["CNAME", "A", "AAAA"].includes(type) || target === "" || owner.endsWith("."))
      throw new RefusedFile(line);
    const policy = target === "rpz-passthru." ? "pass" : "answer";
    const known = policies.get(owner);
    // A second record beside a CNAME makes the zone invalid.
    if (known !== undefined && (known !== policy || type === "CNAME")) throw new RefusedFile(line);
    policies.set(owner, policy);
    for (const node of withAncestors(owner)) nodes.add(node);
  }
  return (name) => {
    if (nodes.has(name)) return policies.get(name) === "answer";
    const encloser = withAncestors(name).find((parent) => nodes.has(parent));
    return encloser !== undefined && policies.get(`*.${encloser}`) === "answer";
  };
}
