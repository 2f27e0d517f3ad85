import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { quickAscii } from "../syntax/idna.ts";
import { isIpv4Text, isIpv6Text } from "../syntax/ip.ts";
import { isLocalName } from "../syntax/local-names.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";
import { spareRowsAfter } from "./to-block-rule.ts";

const NAME = /^(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * `192.168.1.10 nas.home` in a fully trusted source says where the name is. Resolvers read such a line in different ways, and Compress
 * makes a block of a hosts line, so it becomes a `$dnsrewrite` rule, one for each name. The scanner reserved rows for them.
 */
export class OwnAddresses implements Stage {
  private readonly context: StageContext;
  /** Rules for the next spare rows. */
  private further: string[] = [];

  constructor(context: StageContext) {
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    for (const row of this.context.finder.specialOrSpare(chunk))
      if (chunk.fate[row] !== Fate.Spare) this.rewrite(chunk, row);
      else if (this.further.length > 0) this.become(chunk, row, this.further.shift()!);
    pass(chunk);
  }

  end(): void {}

  private rewrite(chunk: Chunk, row: number): void {
    this.further = [];
    if (chunk.kind[row] !== Kind.Hosts || (chunk.flags[row]! & Flag.RealAddress) === 0) return;
    const line = textOf(chunk, row);
    const address = /\S+/.exec(line)![0];
    // With a zone, such as fe80::1%lo0, a server cannot answer with it.
    if (!isIpv4Text(address) && !isIpv6Text(address)) return;
    const names: string[] = [];
    filterNames(line, (name) => names.push(quickAscii(name).toLowerCase()) > 0);
    const meant = names.filter((name) => NAME.test(name) && !isLocalName(name));
    if (meant.length === 0 || spareRowsAfter(chunk, row) < meant.length - 1) return;
    const [first, ...further] = meant.map((name) => `|${name}^$dnsrewrite=${address}`);
    this.further = further;
    this.become(chunk, row, first!);
  }

  private become(chunk: Chunk, row: number, text: string): void {
    chunk.fate[row] = Fate.Kept;
    rewriteText(chunk, row, text);
    classifyAgain(chunk, row);
  }
}
