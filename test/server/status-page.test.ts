import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_HISTORY, withRun } from "../../src/server/history.ts";
import { assertInOrder } from "../support/assert-in-order.ts";
import {
  CAUSES,
  HOUR,
  REFUSED,
  STALE,
  build,
  health,
  page,
  run,
} from "../support/server-states.ts";

test("the status page shows the state and escapes everything", () => {
  const evil = '<script>alert("x")</script>';
  const history = withRun(
    withRun(
      withRun(NO_HISTORY, run({}), build("stale", evil)),
      run({ rules: 9 }),
      build("stale", evil),
    ),
    { ...REFUSED, problem: { code: "too-few-rules", message: evil } },
    undefined,
  );
  const shown = page(history, { reports: ["report.html"] });
  assert.match(shown, /<a href="report">/);
  assert.ok(!shown.includes("<script"));
  assert.match(shown, /&lt;script&gt;/);
  assert.match(shown, /The last list was refused; the previous one is served/);
  assert.match(shown, /<polyline points="/);
  assert.match(shown, /class="state warn">Refused/);
  assert.match(shown, /\(stale\)/);
  const first = page(NO_HISTORY);
  assert.doesNotMatch(first, /href="report"/);
  assert.match(first, /No build has succeeded yet/);
});

/** The text of a page, without its style. */
function textOf(shown: string): string {
  const [, body = ""] = shown.split("</style>");
  return body.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
}

test("the status page says first how the list is, then what changed, then what needs attention", () => {
  const good = withRun(withRun(NO_HISTORY, run({}), build()), run({ rules: 9 }), build());
  assertInOrder(textOf(page(good)), [
    "Healthy",
    "The lists are up to date. Nothing needs attention.",
    "What changed The last run, 6 hours ago, published 9 rules: +3 since the run before (+50.0 %).",
    "Needs attention Nothing.",
    "Is a name blocked?",
    "Lists",
    "Sources",
    "Runs",
  ]);
  const refused = withRun(good, { ...REFUSED, ...CAUSES }, undefined, build("stale").sources);
  const conditions = [STALE, { ...STALE, list: "Other" }];
  assertInOrder(textOf(page(refused, { health: health(refused, { conditions }) })), [
    "Refused",
    "2 things need attention.",
    "was refused: nothing was published.",
    "The last list was refused; the previous one is served",
    "Hint: Keep reachable: allow: [time.apple.com]",
    "Ads failed; using cached copy from 2026-11-10 00:00 UTC",
    "Since 2026-11-10 06:00 UTC.",
    "Because: the server responded with status 404",
    "Hint: Check the URL",
  ]);
  const failed = run({ exit: 1, outcome: "failed", problem: { code: "x", message: "No route" } });
  assertInOrder(textOf(page(withRun(good, failed, undefined))), [
    "The last run failed",
    "No route",
  ]);
  const same = withRun(good, run({ outcome: "unchanged" }), build());
  assertInOrder(textOf(page(same)), ["changed nothing. The list still has 6 rules."]);
  const over = withRun(refused, run({ at: "2026-11-15T11:30:00.000Z" }), build());
  assertInOrder(textOf(page(over)), [
    "Nothing needs attention.",
    "Runs The last refusal was 60 minutes ago, and a build has succeeded since",
  ]);
});

test("without runs, each part of the status page says what will appear", () => {
  assertInOrder(textOf(page(NO_HISTORY)), [
    "1 thing needs attention.",
    "Changes appear here after the first run.",
    "The lists are not up to date",
    "Lists appear here after the first successful build.",
    "Sources appear here after the first run that reads them.",
    "Runs appear here when the first one has ended.",
  ]);
  const once = textOf(page(withRun(NO_HISTORY, run({}), build())));
  assertInOrder(once, [
    "Changes appear here after the second run.",
    "Charts appear here after the second run.",
  ]);
});

test("lists that are too old need attention, even if no run failed", () => {
  const good = withRun(NO_HISTORY, run({}), build());
  const old = textOf(page(good, { health: health(good, { limitMs: HOUR }) }));
  assertInOrder(old, ["Unhealthy", "1 thing needs attention.", "The lists are not up to date"]);
});

test("the page has the names of a file while it is the one of the last run, and the rules that are published", () => {
  const known = build();
  const outputs = [...known.outputs, { file: "l.hosts", outcome: "written", names: 4 } as const];
  const history = withRun(NO_HISTORY, run({}), { ...known, outputs });
  const countsAt = (modified: string): string => {
    const version = { tag: "", fingerprint: "", variants: [], size: 1 };
    const lists = ["rules/my-list.txt", "l.hosts"].map((name) => ({
      ...version,
      name,
      modified: new Date(modified),
    }));
    const shown = page(history, { lists, rulesOf: (file) => (file === "l.hosts" ? 1 : 77) });
    return [...shown.matchAll(/data-name="Rules">(?<count>[^<]+)</g)]
      .slice(0, 2)
      .map(({ groups }) => groups!["count"])
      .join(" ");
  };
  assert.equal(countsAt("2026-11-15T06:00:01Z"), "77 4");
  assert.equal(countsAt("2026-11-15T06:00:02Z"), "77 –", "published after the run");
});
