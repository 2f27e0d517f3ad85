import { LF } from "../bytes/ascii.ts";
import { HashPlaces } from "../bytes/hash-places.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { RuleSlice } from "../formats/owned-names.ts";
import type { Host } from "../host/host.ts";
import type { OutputPlan } from "./output-plan.ts";

/** The sources that own the published rules, read from the published files. The files of the first output decide. */
export class PublishedOwners {
  private readonly byName = new HashPlaces();
  private readonly byText = new HashPlaces();

  static async read(plans: readonly OutputPlan[], host: Host): Promise<PublishedOwners> {
    const owners = new PublishedOwners();
    for (const plan of plans)
      for (const [source, { path }] of (plan.sourceFiles ?? []).entries())
        if (await host.exists(path)) owners.take(await host.readFile(path), source, plan);
    return owners;
  }

  /** The source that owned the rule; -1 for a new one. */
  of({ bytes, start, end, isName }: Omit<RuleSlice, "source">): number {
    return (isName ? this.byName : this.byText).get(bytes, start, end);
  }

  private take(bytes: Uint8Array, source: number, { format, options }: OutputPlan): void {
    const { subtree, exact } = format.lines(options);
    const frames = [subtree, exact].flatMap((lines) => (lines === undefined ? [] : [lines[0]!]));
    const parts = frames.map((line) => line.split("%").map((part) => encodeUtf8(part)));
    for (let start = 0; start < bytes.length;) {
      const next = bytes.indexOf(LF, start);
      const end = next === -1 ? bytes.length : next;
      this.add(sliceOf(bytes, start, end, parts), source);
      start = end + 1;
    }
  }

  private add(rule: Omit<RuleSlice, "source">, source: number): void {
    if (this.of(rule) === -1) (rule.isName ? this.byName : this.byText).set(source);
  }
}

/** The name in a line with one of these frames; otherwise the line. */
function sliceOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  frames: readonly (readonly Uint8Array[])[],
): Omit<RuleSlice, "source"> {
  for (const [before, after] of frames) {
    const [from, to] = [start + before!.length, end - after!.length];
    const isFramed =
      from < to &&
      before!.every((byte, at) => bytes[start + at] === byte) &&
      after!.every((byte, at) => bytes[to + at] === byte);
    if (isFramed) return { bytes, start: from, end: to, isName: true };
  }
  return { bytes, start, end, isName: false };
}
