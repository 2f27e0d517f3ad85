import { type Hash, createHash } from "node:crypto";
import { LF } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { appendText } from "../rules/row-text.ts";
import { canaryName } from "../syntax/canary-name.ts";
import { classifyAgain } from "../syntax/classify.ts";
import type { Reserved } from "./reserved.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/**
 * Drops what later stages made of rules that touch canaries, and adds the canary to the end of a list. Its name is a digest of the lines before it, so a list whose rules did not change stays
 * the same file.
 */
export class CanaryStage implements Stage {
  private readonly context: StageContext;
  private readonly hash: Hash = createHash("sha256");
  private readonly lines = new ByteBuffer();
  /** Of the first source, whose rules have priority in outputs with `fit`. */
  private origin: number | undefined;
  private hasSubtrees = false;
  private hasRules = false;

  private readonly reserved: Reserved;

  constructor(context: StageContext, reserved: Reserved) {
    this.context = context;
    this.reserved = reserved;
  }

  push(chunk: Chunk, pass: Pass): void {
    this.origin ??= chunk.origin;
    const { lines } = this;
    lines.length = 0;
    for (const row of this.context.finder.live(chunk)) {
      if (!this.reserved.judge(chunk, row)) continue;
      lines.push(LF);
      appendText(chunk, row, lines);
      const kind = chunk.kind[row]!;
      this.hasRules ||= kind >= Kind.Hosts;
      this.hasSubtrees ||= kind === Kind.Block || kind === Kind.Rule;
    }
    this.hash.update(lines.view());
    pass(chunk);
  }

  end(pass: Pass): void {
    // A list without rules must stay one, for the guards.
    if (this.origin === undefined || !this.hasRules) return;
    const { pool } = this.context;
    const name = canaryName(this.hash.digest("hex"));
    // In a list of single names, a rule for a subtree would be the only one that some formats cannot express.
    const bytes = encodeUtf8(this.hasSubtrees ? `||${name}^` : `0.0.0.0 ${name}`);
    const chunk = pool.add(new Chunk(pool.arena, this.origin, bytes, { capacity: 1 }));
    const row = chunk.push(0, bytes.length, 0);
    classifyAgain(chunk, row);
    chunk.flags[row]! |= Flag.Generated;
    chunk.has.otherRows = true;
    pass(chunk);
    pool.cache.done(chunk);
  }
}
