import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isNightly } from "../support/nightly.ts";
import { SWITCH_WAYS, type SwitchFigures, runSwitch } from "../support/resolvers/switches.ts";

/** Clients ask while real resolvers load a list in which one per cent changes. bench/switches.ts has all sizes. */
const NAMES = isNightly ? 300_000 : 120_000;
/** The ways that the guide recommends for large lists, and the one that it warns of. */
const WITHOUT_GAP = ["unbound zone transfer", "BIND zone transfer", "dnsdist `format: cdb`"];
const WITH_GAP = "unbound zone file, `auth_zone_reload`";

test("large lists reach resolvers without a gap in the ways of the guide, and the program reports the gap of others", async (context) => {
  const seen = new Map<string, SwitchFigures>();
  const wanted = [WITH_GAP, ...WITHOUT_GAP];
  for (const way of SWITCH_WAYS) {
    const name = `${way.resolver} ${way.how}`;
    const found = wanted.find((one) => name.startsWith(one));
    if (found === undefined && !isNightly) continue;
    const folder = mkdtempSync(join(tmpdir(), "switch-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const figures = await runSwitch(way, { names: NAMES, changed: NAMES / 100 }, folder);
    seen.set(found ?? name, figures);
    const { asked, lost, wrong, gapMs, reportedMs, seconds } = figures;
    context.diagnostic(
      `${name}: ${asked} questions in ${seconds} s, ${lost} lost, ${wrong} wrong; gap ${gapMs} ms, reported ${reportedMs} ms`,
    );
    assert.equal(wrong, 0, name);
    assert.ok(asked > 50, name);
    assert.ok(Math.abs(gapMs - reportedMs) < 600 + gapMs * 0.3, `${name}: the report is true`);
  }
  const outage = seen.get(WITH_GAP)!;
  // A fast machine loads so many names in half a second; a question takes 8 ms.
  assert.ok(outage.gapMs > 300, `${WITH_GAP}: ${outage.gapMs} ms`);
  for (const name of WITHOUT_GAP) {
    const { gapMs, lost, asked } = seen.get(name)!;
    assert.ok(gapMs < outage.gapMs / 2, `${name}: ${gapMs} ms, not ${outage.gapMs}`);
    assert.ok(lost <= asked / 50, `${name}: ${lost} of ${asked} lost`);
  }
});
