import type { ProgressEvent } from "../compile/progress-event.ts";
import { warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { numberText } from "../diagnostics/number-text.ts";
import { bytesText } from "./summary.ts";
import { fitText } from "./text-width.ts";
import type { Talk } from "./talk.ts";

/** Sources shown at a time while they are read; the rest is a number. */
const MOST_LINES = 12;

/**
 * What is going on. On a terminal a few lines that are drawn over until the work is done; elsewhere one plain line for
 * each thing that happened.
 */
export class ProgressLines {
  private readonly host: Host;
  private readonly talk: Talk;
  private readonly total: number;
  private readonly isBrief: boolean;
  private readonly running = new Map<number, string>();
  private done = 0;
  private drawn = 0;

  /** With `isBrief`, sources that were read are not told one by one: there are many lists, and the same ones in each. */
  constructor(host: Host, talk: Talk, total: number, isBrief: boolean) {
    this.host = host;
    this.talk = talk;
    this.total = total;
    this.isBrief = isBrief;
  }

  show(event: ProgressEvent): void {
    if (event.kind === "source-started") this.running.set(event.source, printable(event.label, 60));
    else if (event.kind === "source-read" || event.kind === "source-failed") {
      this.running.delete(event.source);
      this.done++;
    }
    if (event.kind === "needs-scratch") this.sayNeed(event);
    else if (event.kind === "step" || !this.talk.isLive) this.say(event);
    else this.draw(event);
  }

  /** Takes the lines away again; what follows them is the result. */
  end(): void {
    this.erase();
  }

  private say(event: ProgressEvent): void {
    if (event.kind === "source-read") {
      const text = `read ${printable(event.label)}: ${bytesText(event.bytes)}`;
      if (this.isBrief) this.talk.debug(text);
      else this.talk.info(text);
    } else if (event.kind === "source-failed") this.talk.info(`failed ${printable(event.label)}`);
    else if (event.kind === "step")
      this.talk.debug(`${printable(event.label ?? "list")}: ${event.name}, ${event.ms} ms`);
    else if (event.kind === "compiling")
      this.talk.debug(`compiling ${numberText(event.lines)} rows`);
  }

  /** Said before the work begins, so that nobody finds out from a full disk. */
  private sayNeed({ bytes, folder, free }: ProgressEvent & { kind: "needs-scratch" }): void {
    this.erase();
    const need = `needs about ${bytesText(bytes)} in ${printable(folder)} for what does not fit into memory`;
    if (free >= bytes) this.talk.info(need);
    else
      this.talk.diagnostic(
        warningOf("little-scratch-room", `${need}; only ${bytesText(free)} are free`),
      );
  }

  private draw(event: ProgressEvent): void {
    this.erase();
    const { style } = this.talk;
    const heading =
      event.kind === "compiling"
        ? `compiling ${numberText(event.lines)} lines`
        : `reading sources ${this.done}/${this.total}`;
    const width = Math.max(20, this.host.stderr.columns - 1);
    const labels = [...this.running.values()].slice(0, MOST_LINES);
    const lines = [
      style.strong(fitText(heading, width)),
      ...labels.map((label) => `  ${style.faint("…")} ${fitText(label, width - 4)}`),
    ];
    this.host.stderr.write(`${lines.join("\n")}\n`);
    this.drawn = lines.length;
  }

  private erase(): void {
    if (this.drawn > 0) this.host.stderr.write(`\u001b[${this.drawn}A\u001b[J`);
    this.drawn = 0;
  }
}
