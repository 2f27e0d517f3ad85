import { createHash } from "node:crypto";

/** Applies a difference as its format describes it: `dN C` and `aN C`, numbers of lines of the old text. Throws when the digest differs. */
export function applyPatch(old: string, patch: string): string {
  const { checksum } = /^diff (?:name:\S+ )?checksum:(?<checksum>[0-9a-f]{40}) lines:\d+\n/.exec(
    patch,
  )!.groups!;
  const commands = linesOf(patch.slice(patch.indexOf("\n") + 1));
  const lines = linesOf(old);
  let out = "";
  let at = 0;
  for (let index = 0; index < commands.length;) {
    const { kind, line, count } = /^(?<kind>[ad])(?<line>\d+) (?<count>\d+)\n$/.exec(
      commands[index++]!,
    )!.groups as Record<string, string>;
    const until = kind === "d" ? Number(line) - 1 : Number(line);
    while (at < until) out += lines[at++]!;
    if (kind === "d") at += Number(count);
    else for (let more = Number(count); more > 0; more--) out += commands[index++]!;
  }
  out += lines.slice(at).join("");
  const digest = createHash("sha1").update(out).digest("hex");
  if (digest !== checksum) throw new Error(`${digest} is not ${checksum}`);
  return out;
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
