import { LF } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { RulePlaces, type RuleSlice } from "../formats/rule-places.ts";
import type { Host } from "../host/host.ts";
import type { OutputPlan } from "./output-plan.ts";

/** The sources that own the published rules, read from the published files. The files of the first output decide. */
export class PublishedOwners {
  private readonly owners = new RulePlaces();

  static async read(plans: readonly OutputPlan[], host: Host): Promise<PublishedOwners> {
    const owners = new PublishedOwners();
    for (const plan of plans)
      for (const [source, { path }] of (plan.sourceFiles ?? []).entries())
        if (await host.exists(path)) owners.take(await host.readFile(path), source, plan);
    return owners;
  }

  /** The source that owned the rule; -1 for a new one. */
  of(rule: RuleSlice): number {
    return this.owners.get(rule);
  }

  private take(bytes: Uint8Array, source: number, { format, options }: OutputPlan): void {
    const { subtree, exact } = format.lines(options);
    const frames = [subtree, exact].flatMap((lines) => (lines === undefined ? [] : [lines[0]!]));
    const parts = frames.map((line) => line.split("%").map((part) => encodeUtf8(part)));
    const own = (before: number): number => (before === -1 ? source : before);
    for (let start = 0; start < bytes.length;) {
      const next = bytes.indexOf(LF, start);
      const end = next === -1 ? bytes.length : next;
      this.owners.update(sliceOf(bytes, start, end, parts), own);
      start = end + 1;
    }
  }
}

/** The name in a line with one of these frames; otherwise the line. */
function sliceOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  frames: readonly (readonly Uint8Array[])[],
): RuleSlice {
  for (const [before, after] of frames) {
    const [from, to] = [start + before!.length, end - after!.length];
    if (from < to && isAt(before!, bytes, start) && isAt(after!, bytes, to))
      return { bytes, start: from, end: to, isName: true };
  }
  return { bytes, start, end, isName: false };
}

function isAt(part: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < part.length; at++) if (bytes[start + at] !== part[at]) return false;
  return true;
}
