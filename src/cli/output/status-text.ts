import { isDegraded } from "../../build/build-outcome.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { ServerHealth } from "../ask-health.ts";
import { renderTable } from "./table.ts";
import { fitText } from "./text-width.ts";

/** Rows per section, so that everything fits on one screen. */
const MOST_ROWS = 4;

/** Servers of earlier versions say less. */
const NOT_REPORTED = "not reported by this server";

type Fields = Readonly<Record<string, unknown>>;

/** A server on one screen of 25 lines. Nothing in it is trusted: another program may have answered. */
export function statusText(health: ServerHealth, style: Style, columns: number): string {
  const { status, reason, running, next } = health;
  const tone = status === "healthy" ? "good" : status === "unhealthy" ? "error" : "warning";
  const word = printable(status, 20);
  const room = columns - word.length;
  const sources = entriesOf(health, "sources");
  const bad = sources.filter(({ state }) => isDegraded(String(state)));
  const held = new Map(entriesOf(health, "held").map((one) => [text(one["list"]), one]));
  const listRow = (one: Fields): string[] => {
    const hold = held.get(text(one["name"]));
    const state =
      hold === undefined
        ? `published ${moment(one["publishedAt"])}`
        : `held at the build of ${moment(hold["build"])}`;
    return [name(one["name"]), rules(one["rules"]), state];
  };
  const rows = [
    ...renderTable(
      [
        ["last run", runText(health["lastRun"])],
        ["next run", running === true ? "running now" : moment(next)],
        ["sources", "sources" in health ? sourcesText(sources, bad) : NOT_REPORTED],
      ],
      { align: "ll", indent: 0 },
    ),
    ...section("lists", "lrl", entriesOf(health, "lists").map(listRow)),
    ...section("sources that are not available", "lll", bad.map(sourceRow)),
    ...section("resolvers", "llllrl", entriesOf(health, "resolvers").map(resolverRow)),
  ];
  const lines = rows.map((row) => fitText(row, columns));
  return `${style[tone](word)}${fitText(`: ${printable(reason)}`, room)}\n${lines.join("\n")}\n`;
}

function section(title: string, align: string, rows: readonly string[][]): string[] {
  if (rows.length === 0) return [];
  const more = rows.length - MOST_ROWS;
  return [
    title,
    ...renderTable(rows.slice(0, MOST_ROWS), { align }),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function sourcesText(sources: readonly Fields[], bad: readonly Fields[]): string {
  return `${countText(sources.length, "source")}, ${bad.length} not available`;
}

function runText(run: unknown): string {
  if (run === null) return "none yet";
  const { at, outcome, trigger, seconds, degraded } = fieldsOf(run);
  if (outcome === undefined) return NOT_REPORTED;
  const state = `${printable(text(outcome), 20)}${degraded === true ? ", degraded" : ""}`;
  const time = typeof seconds === "number" ? `, ${seconds.toFixed(1)} s` : "";
  return `${moment(at)}, ${state}${time}, by ${printable(text(trigger), 20)}`;
}

function sourceRow({ name: label, state, goodAt }: Fields): string[] {
  return [name(label), printable(text(state), 20), `last available ${moment(goodAt)}`];
}

function resolverRow({ resolver, list, outcome, build, latencyMs, at }: Fields): string[] {
  return [
    name(resolver),
    name(list),
    printable(text(outcome ?? "not proved yet"), 20),
    typeof build === "string" ? printable(build, 16) : "-",
    typeof latencyMs === "number" ? `${Math.round(latencyMs)} ms` : "-",
    moment(at),
  ];
}

function name(value: unknown): string {
  return printable(text(value), 40);
}

function rules(value: unknown): string {
  return typeof value === "number" ? countText(value, "rule") : "-";
}

function moment(value: unknown): string {
  return Number.isNaN(Date.parse(text(value))) ? "-" : momentText(text(value));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function entriesOf(health: ServerHealth, field: string): Fields[] {
  const entries = health[field];
  return Array.isArray(entries) ? entries.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
