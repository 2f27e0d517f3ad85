import { encodeUtf8 } from "../bytes/utf8.ts";
import type { Config } from "../config/fields.ts";
import { headerLines } from "../formats/header.ts";
import { needsCount } from "../formats/header-template.ts";
import type { Scratch } from "../host/host.ts";
import { HeldList } from "./held-list.ts";
import type { ByteSink } from "./output-stage.ts";
import { VERSION } from "../diagnostics/version.ts";

/** No list has more rules. */
const MOST_RULES = 9_999_999_999;

/**
 * The header of the list itself. It always takes as many bytes, however many rules there are: what is known about the rules
 * (the build record, patches) is known by where they stand. Blanks behind its last line make up for the digits.
 */
export class ListHeader {
  /** Whether it says how many rules there are, so that it can be written only when all are known. */
  private readonly isLate: boolean;
  private held: HeldList | undefined;
  private readonly config: Config;
  private readonly time: Date;
  private readonly more: readonly string[];

  constructor(config: Config, time: Date, more: readonly string[]) {
    this.config = config;
    this.time = time;
    this.more = more;
    this.isLate = needsCount([config.version, ...(config.header ?? [])]);
  }

  /** Where the list goes that ends in `sink`. One whose head is late waits for it. */
  before(sink: ByteSink, openScratch: () => Scratch): ByteSink {
    if (!this.isLate) return sink;
    const held = new HeldList(openScratch(), sink);
    this.held = held;
    return (bytes) => held.take(bytes);
  }

  /** When all rules are known. */
  end(rules: number): void {
    this.held?.release(encodeUtf8(this.lines(rules).join("\n")));
  }

  close(): void {
    this.held?.close();
  }

  /** Without a number, lines that take as many bytes. */
  lines(count: number = MOST_RULES): string[] {
    return this.padded(count, false);
  }

  /** The same without dates. */
  timeless(count: number): string {
    return this.padded(count, true).join("\n");
  }

  private padded(count: number, isTimeless: boolean): string[] {
    const { config, time, more } = this;
    const facts = { compiler: VERSION, time, more, isTimeless };
    const lines = headerLines(config, { ...facts, count });
    if (!this.isLate) return lines;
    const longest = headerLines(config, { ...facts, count: MOST_RULES });
    const missing = longest.join("").length - lines.join("").length;
    return [...lines.slice(0, -1), `${lines.at(-1)}${" ".repeat(missing)}`];
  }
}
