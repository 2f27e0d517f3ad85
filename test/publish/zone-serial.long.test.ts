import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MemoryProject } from "../support/memory-project.ts";
import { propertyRuns } from "../support/property.ts";

const HALF = 0x8000_0000;
const ZONE = "rules/list.rpz";

/** Whether a secondary that has one serial takes the other (RFC 1982). */
function isTaken(serial: number, before: number): boolean {
  const ahead = (serial - before) >>> 0;
  return ahead > 0 && ahead < HALF;
}

/** A project with a zone, and a primary in memory that answers with its serial. */
class ZoneProject extends MemoryProject {
  /** What the primary has; undefined if it is down. */
  primary: number | undefined;
  private count = 0;

  constructor(hasPrimary: boolean) {
    const output = { format: "rpz", ...(hasPrimary && { updates: "127.0.0.1#53" }) };
    const config = { name: "List", sources: [{ source: "own.txt", type: "adblock" }] };
    super(
      { "c.json": JSON.stringify({ ...config, outputs: [output] }) },
      {
        exchange: async (exchange) => {
          if (this.primary !== undefined) exchange.take(answerTo(exchange.message, this.primary));
        },
      },
    );
  }

  /** Publishes other rules; returns the serial of the zone. */
  async publish(now: number): Promise<number> {
    this.now = new Date(now).toISOString();
    this.write("own.txt", `||n${this.count++}.org^\n`);
    const { exit, stderr } = await this.run("-c", "c.json", "--no-cache");
    assert.equal(exit, 0, stderr);
    return Number(/ SOA \S+ \S+ (\d+) /.exec(this.text(ZONE))![1]);
  }

  forget(): void {
    for (const path of this.memory.files.keys())
      if (path.startsWith("/project/rules/")) this.memory.files.delete(path);
  }
}

/** The answer to a question for an SOA record, with a compressed name. */
function answerTo(question: Uint8Array, serial: number): Uint8Array {
  const asked = question.subarray(2);
  const soa = [0, 0, ...new Uint8Array(20)];
  const record = [0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, soa.length, ...soa];
  const bytes = Uint8Array.from([...asked, ...record]);
  bytes[2] = 0x84;
  bytes[7] = 1;
  new DataView(bytes.buffer).setUint32(bytes.length - 20, serial);
  return Uint8Array.from([bytes.length >> 8, bytes.length & 255, ...bytes]);
}

const YEAR_MS = 365 * 86_400_000;
/** From 1970 to beyond 2106, where serials of seconds wrap around. */
const moments = fc.oneof(
  fc.integer({ min: 0, max: 86_400_000 }).map((ms) => Date.UTC(2026, 10, 10) + ms),
  fc.integer({ min: 0, max: 200 }).map((years) => years * YEAR_MS + 1000),
);
const steps = fc.array(
  fc.record({
    now: moments,
    /** What happens before the publish. */
    event: fc.constantFrom("none", "lost", "restored", "none"),
  }),
  { minLength: 2, maxLength: 6 },
);

test("with a primary, every zone has a serial that secondaries take, whatever is lost or restored", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.option(fc.nat(0xffff_ffff)), async (all, first) => {
      const project = new ZoneProject(true);
      project.primary = first ?? undefined;
      let backup: Uint8Array | undefined;
      for (const { now, event } of all) {
        if (event === "lost") project.forget();
        if (event === "restored" && backup) project.memory.files.set(`/project/${ZONE}`, backup);
        const before = project.primary;
        const serial = await project.publish(now);
        assert.notEqual(serial, 0);
        if (before !== undefined) assert.ok(isTaken(serial, before), `${before} → ${serial}`);
        backup ??= project.memory.files.get(`/project/${ZONE}`);
        project.primary = serial;
      }
    }),
    propertyRuns(25),
  );
});

test("without a primary, serials never go back, with any clock, and go in small steps", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moments, { minLength: 2, maxLength: 6 }), async (all) => {
      const project = new ZoneProject(false);
      let before: number | undefined;
      for (const now of all) {
        const serial = await project.publish(now);
        if (before !== undefined) assert.ok(isTaken(serial, before), `${before} → ${serial}`);
        before = serial;
      }
    }),
    propertyRuns(25),
  );
  // Two publishes a second, which a script for the primary needs a few serials for.
  const project = new ZoneProject(true);
  const now = Date.UTC(2026, 10, 10);
  const first = await project.publish(now);
  let last = first;
  for (let run = 0; run < 10; run++) last = await project.publish(now);
  assert.ok(last - first <= 20, `${last - first}`);
});
