import { printable } from "../diagnostics/printable.ts";
import type { Style } from "../diagnostics/render.ts";
import type { Host } from "../host/host.ts";

type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type EventLevel = "debug" | "info" | "warning" | "error";

const TONES = { debug: "faint", info: "strong", warning: "warning", error: "error" } as const;

export interface EventLogSettings {
  readonly json: boolean;
  readonly style: Style;
  isEnabled(level: EventLevel): boolean;
}

/** The log of a server, one event per line: JSON for machines, `time event key=value` for people. */
export class EventLog {
  private readonly host: Host;
  private readonly settings: EventLogSettings;

  constructor(host: Host, settings: EventLogSettings) {
    this.host = host;
    this.settings = settings;
  }

  isEnabled(level: EventLevel): boolean {
    return this.settings.isEnabled(level);
  }

  write(level: EventLevel, event: string, fields: Fields = {}): void {
    const { json, style } = this.settings;
    if (!this.isEnabled(level)) return;
    const time = this.host.now().toISOString();
    if (json) {
      this.host.stderr.write(`${JSON.stringify({ time, level, event, ...fields })}\n`);
      return;
    }
    const pairs = Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => `${style.faint(`${key}=`)}${fieldText(value)}`);
    this.host.stderr.write(
      `${[style.faint(time.slice(0, 19).replace("T", " ")), style[TONES[level]](event), ...pairs].join(" ")}\n`,
    );
  }
}

function fieldText(value: Fields[string]): string {
  const text = printable(String(value), 400);
  return /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}
