import type { ProgressEvent } from "../../build/build-event.ts";
import { warningOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { fetchText, stepText } from "./progress-text.ts";
import { bytesText } from "./summary.ts";
import { fitText, textWidth } from "./text-width.ts";
import type { Reporter } from "./reporter.ts";

/** Maximum number of sources shown while they are read; the rest are counted. */
const MOST_LINES = 12;
/** How often seconds and bytes are updated. */
const TICK_MS = 500;

/** A source that is still being read. */
interface Running {
  readonly label: string;
  readonly since: number;
  bytes: number;
  retries: number;
}

/**
 * Shows progress. On a terminal, it redraws a few lines until the work is done. Elsewhere, it prints one plain line per event.
 */
export class ProgressLines {
  private readonly host: Host;
  private readonly reporter: Reporter;
  private readonly total: number;
  private readonly isBrief: boolean;
  private readonly running = new Map<number, Running>();
  private readonly arrived = new Set<number>();
  private readonly started: number;
  private rows: number | undefined;
  private drawn = 0;
  private clock: ReturnType<typeof setInterval> | undefined;

  /** `isBrief` hides single sources: with many lists, the same sources would appear repeatedly. */
  constructor(host: Host, reporter: Reporter, total: number, isBrief: boolean) {
    this.host = host;
    this.reporter = reporter;
    this.total = total;
    this.isBrief = isBrief;
    this.started = host.now().getTime();
  }

  show(event: ProgressEvent): void {
    this.track(event);
    this.printStep(event);
    if (event.kind === "needs-scratch") this.printNeed(event);
    else if (!this.reporter.isLive) this.printEvent(event);
    // Downloads arrive in many pieces, so the timer redraws them.
    else if (event.kind !== "source-arriving" && event.kind !== "step") this.draw();
  }

  /** Removes the lines, because the result follows. */
  end(): void {
    clearInterval(this.clock);
    this.clock = undefined;
    this.erase();
  }

  private track(event: ProgressEvent): void {
    if (event.kind === "source-started") {
      const since = this.host.now().getTime();
      const label = printable(event.label, 60);
      this.running.set(event.source, { label, since, bytes: 0, retries: 0 });
    } else if (event.kind === "compiling") this.rows = event.lines;
    else if ("source" in event) {
      // A mirror that is no longer needed may still send data.
      const source = this.running.get(event.source);
      if (event.kind === "source-arriving") Object.assign(source ?? {}, { bytes: event.bytes });
      else if (event.kind === "source-retried")
        Object.assign(source ?? {}, { retries: event.retry });
      else {
        this.running.delete(event.source);
        this.arrived.add(event.source);
      }
    }
  }

  /** With `--debug`, on terminals and elsewhere. */
  private printStep(event: ProgressEvent): void {
    const text = event.kind === "step" ? stepText(event) : fetchText(event);
    if (text === undefined || !this.reporter.shows("debug")) return;
    this.erase();
    this.reporter.debug(text);
  }

  private printEvent(event: ProgressEvent): void {
    if (event.kind === "source-read") {
      const what = event.isCopy ? "the cached copy of " : "";
      const text = `read ${what}${printable(event.label)}: ${bytesText(event.bytes)}`;
      if (this.isBrief) this.reporter.debug(text);
      else this.reporter.info(text);
    } else if (event.kind === "source-failed")
      this.reporter.info(`failed ${printable(event.label)}`);
  }

  /** Shown before the work begins, because a full disk would report it too late. */
  private printNeed({ bytes, folder, free }: ProgressEvent & { kind: "needs-scratch" }): void {
    this.erase();
    const need = `needs about ${bytesText(bytes)} of temporary space in ${printable(folder)}`;
    if (free >= bytes) this.reporter.info(need);
    else
      this.reporter.diagnostic(
        warningOf("little-scratch-room", `${need}; only ${bytesText(free)} free`),
      );
  }

  private draw(): void {
    this.erase();
    this.clock ??= setInterval(() => this.draw(), TICK_MS);
    const { style } = this.reporter;
    const width = Math.max(20, this.host.stderr.columns - 1);
    const now = this.host.now().getTime();
    const heading =
      this.rows === undefined
        ? [`reading sources ${this.arrived.size}/${this.total}`, ...seconds(now - this.started)]
        : [`compiling ${countText(this.rows, "line")}`];
    const running = [...this.running.values()];
    const shown = running.slice(0, MOST_LINES);
    const more = running.length - shown.length;
    const lines = [
      style.strong(fitText(heading.join(", "), width)),
      ...shown.map((source) => this.sourceLine(source, now, width)),
      ...(more === 0 ? [] : [`  ${style.faint(`… and ${more} more`)}`]),
    ];
    this.host.stderr.write(`${lines.join("\n")}\n`);
    this.drawn = lines.length;
  }

  private sourceLine(
    { label, since, bytes, retries }: Running,
    now: number,
    width: number,
  ): string {
    const parts = [
      ...(bytes === 0 ? [] : [bytesText(bytes)]),
      ...seconds(now - since),
      ...(retries === 0 ? [] : [`retried ${timesText(retries)}`]),
    ];
    const state = parts.length === 0 ? "" : `  ${parts.join(", ")}`;
    const { style } = this.reporter;
    return `  ${style.faint("…")} ${fitText(label, width - 4 - textWidth(state))}${style.faint(state)}`;
  }

  private erase(): void {
    if (this.drawn > 0) this.host.stderr.write(`\u001b[${this.drawn}A\u001b[J`);
    this.drawn = 0;
  }
}

function timesText(count: number): string {
  return ["once", "twice"][count - 1] ?? `${count} times`;
}

/** Omits durations below a second. */
function seconds(ms: number): string[] {
  return ms < 1000 ? [] : [`${Math.floor(ms / 1000)} s`];
}
