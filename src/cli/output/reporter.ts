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
}

/** What the program says to a person: on standard error, as loudly as it was asked to. */
export class Reporter {
  readonly style: Style;
  /** For what goes to standard output. */
  readonly dataStyle: Style;
  private readonly host: Host;
  private readonly level: number;
  private readonly json: boolean;
  private readonly said = new Set<string>();

  constructor(host: Host, settings: ReporterSettings) {
    this.host = host;
    this.level = LEVELS.indexOf(settings.level);
    this.json = settings.json;
    this.style = settings.hasColor ? ANSI_STYLE : NO_STYLE;
    const style = settings.hasDataColor === true ? ANSI_STYLE : NO_STYLE;
    this.dataStyle = settings.hasLinks === true ? withLinks(style) : style;
  }

  /** Whether a line that is replaced by the next one has a place to stand. */
  get isLive(): boolean {
    const { stderr, env } = this.host;
    return (
      stderr.isTerminal && !this.json && this.shows("info") && !env["CI"] && env["TERM"] !== "dumb"
    );
  }

  /** One that says only problems: for what is done again and again. */
  onlyNew(): Reporter {
    return this.at("warning");
  }

  /** One that says only errors: who asks about a build has heard the warnings of its configuration. */
  onlyErrors(): Reporter {
    return this.at("error");
  }

  private at(level: Level): Reporter {
    const { host, json, style } = this;
    return new Reporter(host, { level, json, hasColor: style === ANSI_STYLE });
  }

  says(level: Level): boolean {
    return LEVELS.indexOf(level) <= this.level;
  }

  info(text: string): void {
    if (this.shows("info") && !this.json) this.write(`${text}\n`);
  }

  debug(text: string): void {
    if (this.shows("debug") && !this.json) this.write(`${this.style.faint(`debug: ${text}`)}\n`);
  }

  /** Our own mistake, the one thing that comes with a stack. */
  bug(stack: string): void {
    this.host.stderr.write(`bug: please report this with the command that you ran\n  ${stack}\n`);
  }

  /** Says a problem, once: several lists, and a list that did not change, have the same ones. */
  diagnostic(diagnostic: Diagnostic): void {
    const text = this.textOf(diagnostic);
    if (text === "" || this.said.has(text)) return;
    this.said.add(text);
    if (this.json) this.host.stderr.write(text);
    else this.write(text);
  }

  private write(text: string): void {
    const { stderr } = this.host;
    stderr.write(wrapScreen(text, columnsOf(stderr)));
  }

  /** Allows the same diagnostics again, because a new build begins. */
  startOver(): void {
    this.said.clear();
  }

  /** What `diagnostic` writes; nothing when it should not be heard. */
  textOf(diagnostic: Diagnostic): string {
    const level: Level = diagnostic.severity === "note" ? "info" : diagnostic.severity;
    if (!this.shows(level)) return "";
    return this.json
      ? diagnosticJson(diagnostic)
      : renderDiagnostic(diagnostic, this.style, this.shows("debug"));
  }
}
