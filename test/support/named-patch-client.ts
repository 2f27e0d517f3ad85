import { createHash } from "node:crypto";

/** Such clients look at the first thousand bytes of a list only. */
const HEAD = 1024;

/**
 * Brings a list one edition on as clients do that look for their part of a patch by its name and its number of lines, as
 * uBlock Origin's updater: the path has a date, the part is named behind `#`, and texts are lines parted by line feeds. Throws
 * where such a client would leave the list as it is.
 */
export function applyNamedPatch(list: string, fetch: (path: string) => string | undefined): string {
  const head = list.slice(0, HEAD);
  const { path, name } =
    /^! Diff-Path: (?<path>[^#\n]+)#(?<name>.+)$/m.exec(head)?.groups ??
    fail("no path with a name");
  if (!/\d+\.\d+\.\d+\.\d+/.test(path!)) fail("no date in the path");
  if (!/^! Diff-Expires: \d+ hours$/m.test(head)) fail("no expiry");
  const patch = fetch(path!) ?? fail(`nothing at ${path}`);
  const part = partOf(patch, name!) ?? fail(`no part for ${name}`);
  const after = changed(list.split("\n"), part.lines).join("\n");
  const digest = createHash("sha1").update(after).digest("hex");
  return digest.startsWith(part.checksum) ? after : fail(`${digest} is not ${part.checksum}`);
}

interface Part {
  readonly checksum: string;
  readonly lines: readonly string[];
}

/** A part begins with a line of fields and has exactly as many lines as that says. */
function partOf(patch: string, wanted: string): Part | undefined {
  const all = patch.split("\n");
  for (let at = 0; at < all.length;) {
    const line = all[at++]!;
    if (!line.startsWith("diff ")) continue;
    const fields = new Map(
      line
        .split(/\s+/)
        .filter((field) => field.includes(":"))
        .map((field) => [field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 1)]),
    );
    const count = Number(fields.get("lines"));
    const checksum = fields.get("checksum");
    if (!fields.has("name") || checksum === undefined || !(count > 0)) return undefined;
    if (fields.get("name") === wanted) return { checksum, lines: all.slice(at, at + count) };
    at += count;
  }
  return undefined;
}

/** `dN C` and `aN C` count lines of the text as it was before any of them. */
function changed(old: readonly string[], commands: readonly string[]): string[] {
  const out: string[] = [];
  let taken = 0;
  for (let at = 0; at < commands.length;) {
    const found = /^(?<kind>[ad])(?<line>\d+) (?<count>\d+)$/.exec(commands[at++]!)?.groups;
    const { kind, line, count } = found ?? fail("not a command");
    const until = kind === "d" ? Number(line) - 1 : Number(line);
    if (until > old.length) fail("behind the end");
    for (; taken < until; taken++) out.push(old[taken]!);
    if (kind === "d") taken += Number(count);
    else
      for (let more = Number(count); more > 0; more--)
        out.push(commands[at++] ?? fail("too short"));
  }
  return [...out, ...old.slice(taken)];
}

function fail(why: string): never {
  throw new Error(why);
}
