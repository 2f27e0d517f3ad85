import { encodeUtf8 } from "../bytes/utf8.ts";
import { type HeaderConfig, headerLines } from "../formats/header.ts";
import { needsCount } from "../formats/header-template.ts";
import type { Scratch } from "../host/host.ts";
import { HeldList } from "./held-list.ts";
import type { ByteSink } from "./output-stage.ts";
import { VERSION } from "../diagnostics/version.ts";

/** Upper limit for the rule count. */
const MOST_RULES = 9_999_999_999;

/**
 * The list's header. Its size in bytes does not depend on the number of rules: the build record and patches refer to rules by
 * their offset. Blanks after its last text replace missing digits.
 */
export class ListHeader {
  /** Whether it shows the number of rules, so that it must be written after them. */
  private readonly isLate: boolean;
  private held: HeldList | undefined;
  private readonly config: HeaderConfig;
  private readonly time: Date;
  private readonly more: readonly string[];
  private readonly compiler: string;

  constructor(
    config: HeaderConfig,
    time: Date,
    more: readonly string[],
    compiler: string = VERSION,
  ) {
    this.compiler = compiler;
    this.config = config;
    this.time = time;
    this.more = more;
    this.isLate = needsCount([config.version, ...(config.header ?? [])]);
  }

  /** The sink for the list. If the header is late, the list waits for it. */
  before(sink: ByteSink, openScratch: () => Scratch): ByteSink {
    if (!this.isLate) return sink;
    const held = new HeldList(openScratch(), sink);
    this.held = held;
    return (bytes) => held.take(bytes);
  }

  /** Call with the final count. */
  end(rules: number): void {
    this.held?.release(encodeUtf8(this.lines(rules).join("\n")));
  }

  close(): void {
    this.held?.close();
  }

  /** Without a count, placeholder lines of the same size. */
  lines(count: number = MOST_RULES): string[] {
    return this.padded(count, false);
  }

  /** The same without dates. */
  timeless(count: number): string {
    return this.padded(count, true).join("\n");
  }

  private padded(count: number, isTimeless: boolean): string[] {
    const { config, time, more, compiler } = this;
    const facts = { compiler, time, more, isTimeless };
    const lines = headerLines(config, { ...facts, count });
    if (!this.isLate) return lines;
    const longest = headerLines(config, { ...facts, count: MOST_RULES });
    const missing = longest.join("").length - lines.join("").length;
    const last = lines.findLastIndex((line) => line !== "!");
    return lines.with(last, `${lines[last]}${" ".repeat(missing)}`);
  }
}
