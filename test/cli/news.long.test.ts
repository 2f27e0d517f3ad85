import assert from "node:assert/strict";
import { test } from "node:test";
import { Exit } from "../../src/diagnostics/codes.ts";
import { type Host, HostError } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { assertScreen } from "../support/screen.ts";
import { lastScreen, terminalProject } from "../support/terminal-project.ts";
import { listIn } from "../support/documents.ts";

/** What is reported, and when: each change of a condition once, with `-q` and without. */

const SOURCES = 12;
const WORDS = ["--cache-dir", "cache", "--color", "never"];
const PAGE =
  "<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>\n";

function labelOf(source: number): string {
  return `List ${String(source + 1).padStart(2, "0")}`;
}

/** Twelve lists that change a little every day. */
class Web implements Pick<Host, "fetch"> {
  day = 0;
  /** What a source answers instead of its list: a status, a text or nothing. */
  readonly faults = new Map<number, number | string>();
  isDown = false;

  readonly config: string = JSON.stringify({
    name: "Home",
    sources: Array.from({ length: SOURCES }, (_, source) => ({
      name: labelOf(source),
      source: `https://lists.example/${source}.txt`,
      max_stale: "30d",
      type: "adblock",
    })),
    transformations: ["Deduplicate", "Validate"],
  });

  readonly fetch: Host["fetch"] = async (request) => {
    if (this.isDown) throw new HostError("ENETUNREACH", "network is unreachable");
    const source = Number(/(\d+)\.txt$/.exec(request.url)![1]);
    const fault = this.faults.get(source);
    if (typeof fault === "number") return { status: fault, headers: {} };
    request.take(new TextEncoder().encode(fault ?? this.list(source)));
    return { status: 200, headers: {} };
  };

  list(source: number, names = 400): string {
    return Array.from({ length: names }, (_, at) => {
      const name = at < 4 ? `d${this.day}-${at}` : `n${at}`;
      return `||${name}.s${source}.example^\n`;
    }).join("");
  }
}

const DAYS: Readonly<Record<number, (web: Web) => void>> = {
  3: ({ faults }) => void faults.set(2, 404),
  5: (web) => void web.faults.set(4, web.list(4, 20)),
  6: ({ faults }) => void faults.delete(4),
  7: ({ faults }) => void faults.set(6, PAGE),
  9: ({ faults }) => void faults.delete(6),
  11: (web) => void (web.isDown = true),
  12: (web) => void (web.isDown = false),
};

async function fortnight(project: MemoryProject, web: Web, words: string[]): Promise<string[]> {
  const days: string[] = [];
  for (let day = 1; day <= 14; day++) {
    web.day = day;
    DAYS[day]?.(web);
    project.now = `2026-11-${String(day).padStart(2, "0")}T06:00:00Z`;
    const { exit, stderr, stdout } = await project.run(...words);
    assert.equal(exit, Exit.Done, stderr);
    assert.equal(stdout, "");
    days.push(stderr);
  }
  return days;
}

function messagesIn(text: string): string[] {
  return text.match(/^(?:warning|note|error)\[.*/gm) ?? [];
}

function starts(lines: readonly string[]): string[] {
  return lines.map((line) => line.slice(0, 60));
}

function titled(days: readonly string[]): string {
  return days.map((text, day) => `--- day ${day + 1}\n${text}`).join("");
}

test("in fourteen days, each change is reported once, with at most two messages a day, and -q prints exactly these", async () => {
  const web = new Web();
  const loud = terminalProject({ "compiler-config.json": web.config }, web);
  const days = (await fortnight(loud, web, WORDS)).map(lastScreen);
  const messages = days.map(messagesIn);
  assert.equal(new Set(messages.flat()).size, messages.flat().length, "none twice");
  for (const ofDay of messages) assert.ok(ofDay.length <= 2, ofDay.join("\n"));
  const shown = [2, 3, 4, 5, 6].map((day) => days[day]!.replaceAll(/\d\.\d s/g, "0.0 s"));
  assertScreen("news-days-3-to-7", shown.join("---\n"));
  const again = new Web();
  const quiet = new MemoryProject({ "compiler-config.json": again.config }, again);
  const news = await fortnight(quiet, again, ["-q", ...WORDS]);
  assertScreen("news-quiet", titled(news).replaceAll(/^(.{79}).+$/gm, "$1…"));
  // A terminal breaks long lines.
  assert.deepEqual(news.map(messagesIn).map(starts), messages.map(starts));
  for (const text of news) assert.doesNotMatch(text, /^(?:written|read|failed| {2}source)/m);
  await assertViews(loud);
});

/** All views have the same: the log what began and ended, the report what lasts. */
async function assertViews(project: MemoryProject): Promise<void> {
  const { stdout } = await project.run("log", "--json");
  const { events } = listIn(stdout) as { events: { event: string; what?: string }[] };
  const changes = events.filter(({ what }) => what !== undefined);
  assert.deepEqual(
    changes.map(({ event, what }) => `${event} ${what!.slice(0, 15)}`).toReversed(),
    [
      "began List 03 failed;",
      "began List 05 differs",
      "ended List 05 is read",
      "began List 07 failed;",
      "ended List 07 is read",
      "began No server answe",
      "ended Servers of sour",
    ],
  );
  assert.equal((await project.run("stats", "--html", "report.html")).exit, Exit.Done);
  const report = project.text("report.html").replaceAll(/<[^>]*>/g, " ");
  assert.match(report, /1 thing needs attention[^]*List 03 failed;[^]*Since 2026-11-03 06:00 UTC/);
}
