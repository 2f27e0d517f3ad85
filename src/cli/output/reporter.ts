import {
  ANSI_STYLE,
  type Diagnostic,
  NO_STYLE,
  type Style,
  diagnosticJson,
  errorOf,
  renderDiagnostic,
  withLinks,
} from "../../diagnostics/render.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { someOf } from "../../diagnostics/text.ts";
import type { Host, TextSink } from "../../host/host.ts";
import { LEVELS, type LogLevel } from "../flags/flags.ts";

interface ReporterSettings {
  readonly level: LogLevel;
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
  private readonly hints = new Set<string>();

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
  at(level: LogLevel): Reporter {
    const { host, json, strict, style } = this;
    return new Reporter(host, { level, json, strict, hasColor: style === ANSI_STYLE });
  }

  shows(level: LogLevel): boolean {
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

  /** Prints a problem once: several lists may have the same one. So may several problems the same hint. */
  diagnostic(diagnostic: Diagnostic): void {
    const text = this.textOf(diagnostic);
    if (text === "" || this.printed.has(text)) return;
    this.printed.add(text);
    const { hint = "", ...bare } = diagnostic;
    const isKnown = this.hints.has(hint);
    this.hints.add(hint);
    if (this.json) this.host.stderr.write(text);
    else this.write(isKnown ? this.textOf(bare) : text);
  }

  private write(text: string): void {
    const { stderr } = this.host;
    stderr.write(wrapScreen(text, columnsOf(stderr)));
  }

  /** Allows the same diagnostics again for a new build. */
  reset(): void {
    this.printed.clear();
    this.hints.clear();
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

/** Escape sequences of colors and links, which have no width. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b\[[0-9;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g;
export function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPES, "");
}

const INVISIBLE = /^[\p{Mark}\p{Cf}]$/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const JOINER = "\u200d";
/** Turns the preceding character into an emoji. */
const EMOJI_SELECTOR = "\ufe0f";

/**
 * The width of a text in terminal columns: two for East Asian wide characters and emoji, none for marks. The package string-width
 * adds about 50 ms to every start; see docs/decisions/dependencies.md.
 */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  let last = 0;
  let isJoined = false;
  for (const character of withoutEscapes(text)) {
    if (INVISIBLE.test(character)) {
      if (character === EMOJI_SELECTOR && last === 1) {
        last = 2;
        width++;
      }
      isJoined ||= character === JOINER;
      continue;
    }
    // Several joined emoji, such as a family, are shown as one.
    last = isJoined ? 0 : isWide(character) ? 2 : 1;
    isJoined = false;
    width += last;
  }
  return width;
}

/** A flag consists of two letters with one column each. */
function isWide(character: string): boolean {
  return WIDE.test(character) && !/\p{Regional_Indicator}/u.test(character);
}

/** Truncates a text to a number of columns, with an ellipsis. */
export function fitText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let fitted = "";
  let width = 0;
  for (const character of text) {
    width += textWidth(character);
    if (width > columns - 1) break;
    fitted += character;
  }
  return `${fitted}…`;
}

/** Joins parts with ", " and wraps them to a number of columns. */
export function wrapParts(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const [index, part] of parts.entries()) {
    const text = index < parts.length - 1 ? `${part},` : part;
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(text) <= columns)
      lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}

/** Joins the first parts that fit into a number of columns, and counts the others: `a, b, … 3 more`. */
export function fitParts(parts: readonly string[], columns: number): string {
  for (let shown = parts.length; shown > 0; shown--) {
    const rest = parts.length - shown;
    const text = [...parts.slice(0, shown), ...(rest > 0 ? [`… ${rest} more`] : [])].join(", ");
    if (textWidth(text) <= columns) return text;
  }
  return fitText(parts.length > 1 ? `${parts[0]}, …` : (parts[0] ?? ""), columns);
}

/** Wraps words to a number of columns. A longer word gets its own line. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The width of the screen. Without a terminal, nothing is truncated. */
export function columnsOf({ isTerminal, columns }: TextSink): number {
  return isTerminal ? columns : Infinity;
}

/** A line of a code frame, which must stay aligned with the line below it. */
const FRAME = /^ *\d* \|/;
const HANG = 4;

/** Wraps lines that are too wide for the screen between words, and indents continuation lines. */
export function wrapScreen(text: string, columns: number): string {
  if (columns === Infinity) return text;
  return text
    .split("\n")
    .flatMap((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string[] {
  const bare = withoutEscapes(line);
  if (textWidth(bare) <= columns || FRAME.test(bare)) return [line];
  const indent = " ".repeat(bare.length - bare.trimStart().length + HANG);
  const lines: string[] = [];
  let last = "";
  let width = 0;
  for (const [index, word] of line.split(" ").entries()) {
    const gap = index === 0 ? "" : " ";
    const wide = textWidth(word);
    // Before the first word of a line, there is only the indent.
    if (width + gap.length + wide <= columns || last.trim() === "") {
      last += gap + word;
      width += gap.length + wide;
    } else if (word !== "") {
      lines.push(last.trimEnd());
      last = indent + word;
      width = indent.length + wide;
    }
  }
  return [...lines, last];
}

/** Terminals that support OSC 8 links. Others may show nothing or garbage, so only known ones are listed. */
const PROGRAMS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio)$/;
const TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour)/;
/** VTE 0.50, the first version that supports links. */
const FIRST_VTE = 5000;

/** Whether the terminal is known to support links. `FORCE_HYPERLINK` overrides the detection. */
export function hasTerminalLinks(env: Host["env"]): boolean {
  const forced = env["FORCE_HYPERLINK"];
  if (forced !== undefined && forced !== "") return forced !== "0";
  return (
    PROGRAMS.test(env["TERM_PROGRAM"] ?? "") ||
    TERMS.test(env["TERM"] ?? "") ||
    Number(env["VTE_VERSION"] ?? 0) >= FIRST_VTE ||
    [env["WT_SESSION"], env["KONSOLE_VERSION"]].some((value) => value !== undefined && value !== "")
  );
}

const EXITS = { SIGINT: Exit.Interrupted, SIGTERM: Exit.Terminated, SIGHUP: Exit.Terminated };

export const INTERRUPTED: Diagnostic = errorOf(
  "interrupted",
  "Interrupted by a signal; nothing was written",
);

/** For a signal while files are being replaced. */
export const INTERRUPTED_PUBLISHING: Diagnostic = errorOf(
  "interrupted",
  "Interrupted by a signal while replacing files; each file is complete, either old or new",
);

/** For a signal after lists were published. */
export function published(lists: readonly string[]): Diagnostic {
  return errorOf(
    "interrupted",
    `Interrupted by a signal; these lists were published before: ${someOf(lists)}`,
  );
}

/** The exit code of a run that a signal stopped. */
export function exitOf(signal: AbortSignal): Exit {
  return signal.reason === "SIGINT" ? EXITS.SIGINT : EXITS.SIGTERM;
}

/** For work that blocks the event loop: from now on, a signal ends it within three seconds. */
export function endOnSignals(
  host: Host,
  reporter: Reporter,
  words: Diagnostic = INTERRUPTED,
): void {
  host.watchSignals?.({ farewell: reporter.textOf(words), exits: EXITS });
}
