import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Said, ZONE, askAll } from "./dns-client.ts";
import { freeTcpPort } from "./squid.ts";
import { type Place, type Secondary, secondaries, startServer } from "./zone-servers.ts";

const PATIENCE_MS = 180_000;

interface FollowOptions {
  readonly primary: number;
  readonly upstream: number;
  readonly which?: readonly Secondary[];
}

/** A server that has its zone from the primary. */
export interface Follower {
  readonly secondary: Secondary;
  readonly place: Place;
  server: ReturnType<typeof startServer>;
  /** Milliseconds from the reload to the last change, of each publish. */
  readonly times: number[];
}

async function ask({ secondary, place }: Follower, names: readonly string[]): Promise<Said[]> {
  const { suffix } = secondary;
  if (suffix === undefined) return await askAll(place.port, names);
  return await askAll(
    place.port,
    names.map((name) => name + suffix),
    64,
    ZONE,
  );
}

/** Whether all of these are blocked, and all of those are not. */
export async function isAt(
  follower: Follower,
  blocked: readonly string[],
  passed: readonly string[],
): Promise<boolean> {
  const answers = await ask(follower, [...blocked, ...passed]);
  return answers.every((said, index) => said === (index < blocked.length ? "blocked" : "passed"));
}

/** Resolves with the milliseconds until the condition is true. */
export async function until(
  what: string | (() => string),
  condition: () => Promise<boolean>,
): Promise<number> {
  const began = Date.now();
  while (!(await condition())) {
    if (Date.now() - began > PATIENCE_MS) assert.fail(typeof what === "string" ? what : what());
    await new Promise((later) => setTimeout(later, 50));
  }
  return Date.now() - began;
}

/** The transfers that the primary sent. */
export function transfers(folder: string): { kind: string; bytes: number }[] {
  const log = readFileSync(join(folder, "xfer.log"), "utf8");
  return [
    ...log.matchAll(
      /(?<kind>[AI]XFR)(?:-style IXFR)? ended: \d+ messages, \d+ records, (?<bytes>\d+) bytes/g,
    ),
  ].map(({ groups }) => ({ kind: groups!["kind"]!, bytes: Number(groups!["bytes"]) }));
}

/** Starts secondaries of a primary. */
export async function follow(
  context: TestContext,
  root: string,
  { primary, upstream, which = secondaries }: FollowOptions,
): Promise<Follower[]> {
  const followers: Follower[] = [];
  for (const [index, secondary] of which.entries()) {
    const place = { folder: join(root, `secondary-${index}`), port: await freeTcpPort() };
    mkdirSync(place.folder);
    const server = startServer(secondary.start(place, primary, upstream));
    const follower = { secondary, place, server, times: [] };
    context.after(() => follower.server.child.kill("SIGKILL"));
    followers.push(follower);
  }
  return followers;
}
