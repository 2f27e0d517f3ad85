import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import {
  ANSI_STYLE,
  NO_STYLE,
  type Style,
  diagnosticJson,
  renderDiagnostic,
  withLinks,
} from "../../diagnostics/render.ts";
import type { Host } from "../../host/host.ts";
import { LEVELS, type Level } from "../flags/log-level.ts";
import { columnsOf } from "./text-width.ts";
import { wrapScreen } from "./wrap-screen.ts";

export interface ReporterSettings {
  readonly level: Level;
  readonly json: boolean;
  readonly hasColor: boolean;
  readonly hasDataColor?: boolean;
  readonly hasLinks?: boolean;
  /** Whether warnings fail the run, so that each run says them. */
  readonly strict?: boolean;
}

/** Writes messages and diagnostics to standard error, filtered by the log level. */
export class Reporter {
  readonly style: Style;
  /** The style of standard output. */
  readonly dataStyle: Style;
  private readonly host: Host;
  private readonly level: number;
  private readonly json: boolean;
  private readonly strict: boolean;
  private readonly printed = new Set<string>();

  constructor(host: Host, settings: ReporterSettings) {
    this.host = host;
    this.level = LEVELS.indexOf(settings.level);
    this.json = settings.json;
    this.strict = settings.strict === true;
    this.style = settings.hasColor ? ANSI_STYLE : NO_STYLE;
    const style = settings.hasDataColor === true ? ANSI_STYLE : NO_STYLE;
    this.dataStyle = settings.hasLinks === true ? withLinks(style) : style;
  }

  /** Whether live-updating lines can be shown. */
  get isLive(): boolean {
    const { stderr, env } = this.host;
    return (
      stderr.isTerminal && !this.json && this.shows("info") && !env["CI"] && env["TERM"] !== "dumb"
    );
  }

  /** A reporter with another level and without links. */
  at(level: Level): Reporter {
    const { host, json, strict, style } = this;
    return new Reporter(host, { level, json, strict, hasColor: style === ANSI_STYLE });
  }

  shows(level: Level): boolean {
    return LEVELS.indexOf(level) <= this.level;
  }

  info(text: string): void {
    if (this.shows("info") && !this.json) this.write(`${text}\n`);
  }

  debug(text: string): void {
    if (!this.shows("debug")) return;
    if (this.json)
      this.host.stderr.write(`${JSON.stringify({ severity: "debug", message: text })}\n`);
    else this.write(`${this.style.faint(`debug: ${text}`)}\n`);
  }

  /** An internal error, with its stack. */
  bug(stack: string): void {
    this.host.stderr.write(`bug: please report this with the command that you ran\n  ${stack}\n`);
  }

  /** Prints a problem once: several lists may have the same one. */
  diagnostic(diagnostic: Diagnostic): void {
    const text = this.textOf(diagnostic);
    if (text === "" || this.printed.has(text)) return;
    this.printed.add(text);
    if (this.json) this.host.stderr.write(text);
    else this.write(text);
  }

  private write(text: string): void {
    const { stderr } = this.host;
    stderr.write(wrapScreen(text, columnsOf(stderr)));
  }

  /** Allows the same diagnostics again for a new build. */
  reset(): void {
    this.printed.clear();
  }

  /** What `diagnostic` writes; empty if the level hides it. */
  textOf(diagnostic: Diagnostic): string {
    const { severity, isOver, news } = diagnostic;
    const note = isOver === true || news === true ? "news" : "info";
    if (!this.shows(severity === "note" ? note : severity)) return "";
    // A condition that lasts is in the summary and in the report.
    const isTold = news === false && !this.json && !this.strict && !this.shows("debug");
    if (isTold) return "";
    return this.json
      ? diagnosticJson(diagnostic)
      : renderDiagnostic(diagnostic, this.style, this.shows("debug"));
  }
}
