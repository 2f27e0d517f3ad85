import type { HookEvent } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  HookState,
  type ListHealth,
  type Told,
  dueStates,
  isPublishDue,
} from "../../src/after/hooks.ts";
import { memoryHost } from "../support/internals.ts";
import { Random } from "../support/random.ts";

const HEALTHS: readonly ListHealth[] = ["good", "degraded", "refused", "failed"];

test("over random histories every change is reported until a hook succeeds, and then no more", async () => {
  const random = new Random(17);
  const seen = new Map<HookEvent, number>();
  for (let round = 0; round < 500; round++) {
    const host = memoryHost();
    let files = 0;
    let published: number | undefined;
    // What a simple observer expects: the last health and files that were delivered.
    let health: ListHealth | undefined;
    let wasUnproved = false;
    let delivered: number | undefined;
    for (let step = 0; step < 12; step++) {
      const next = HEALTHS[random.below(4)]!;
      const isPublished = next === "good" || next === "degraded";
      if (isPublished && random.below(2) === 0) files++;
      const isUnproved = random.below(3) === 0;
      const known = { health: next, ...(isUnproved && { isUnproved }) };
      const found: Told = isPublished ? { ...known, files: String(files) } : known;
      if (isPublished) published = files;
      const expected = new Set<HookEvent>();
      if (delivered !== published) expected.add("published");
      if (next !== health && next !== "good") expected.add(next);
      if (isUnproved && !wasUnproved) expected.add("degraded");
      const wasBad = wasUnproved || (health !== undefined && health !== "good");
      if (next === "good" && !isUnproved && wasBad) expected.add("recovered");
      // Every run reads what the last one stored.
      const state = await HookState.open("/project/list.txt", host);
      const now = await state.complete(found);
      const told = state.get("hook");
      const events: HookEvent[] = isPublishDue(told, now) ? ["published"] : [];
      events.push(...dueStates(told, now));
      assert.deepEqual(new Set(events), expected, `round ${round}, step ${step}`);
      assert.equal(events.length, expected.size);
      for (const event of events) seen.set(event, (seen.get(event) ?? 0) + 1);
      const isFailure = random.below(4) === 0;
      if (isFailure) continue;
      await state.set("hook", now);
      health = next;
      wasUnproved = isUnproved;
      delivered = published;
    }
  }
  assert.equal(seen.size, 5);
  for (const count of seen.values()) assert.ok(count > 100);
});
