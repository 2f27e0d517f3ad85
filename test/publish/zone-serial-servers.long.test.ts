import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import {
  primaryCommand,
  reload,
  secondaries,
  startServer,
  whileNotifying,
} from "../support/resolvers/zone-servers.ts";

const PATIENCE_MS = 60_000;
const FAST = { now: new Date("2026-11-10T00:00:00Z") };

function serialAt(port: number): number {
  const words = [
    "@127.0.0.1",
    "-p",
    String(port),
    "rpz.local",
    "SOA",
    "+short",
    "+time=1",
    "+tries=1",
  ];
  try {
    return Number(execFileSync("dig", words, { encoding: "utf8" }).split(" ")[2] ?? -1);
  } catch {
    return -1;
  }
}

test(
  "a real BIND secondary follows its primary after lost state and a restored backup",
  { timeout: 180_000 },
  async (context) => {
    // The clock stands, so that only the primary knows that serials are ahead of it.
    const project = new DiskProject(context, { now: () => FAST.now });
    const root = project.folder;
    const place = { folder: join(root, "primary"), port: await freeTcpPort() };
    const listener = { folder: join(root, "secondary"), port: await freeTcpPort() };
    mkdirSync(place.folder, { recursive: true });
    const zone = join(place.folder, "zone");
    project.write(
      "c.json",
      JSON.stringify({
        name: "List",
        sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
        outputs: [{ format: "rpz", updates: `127.0.0.1#${place.port}` }],
      }),
    );
    let count = 0;
    const publish = async (): Promise<void> => {
      project.write("own.txt", `||always.org^\n||n${count++}.org^\n`);
      const { exit, stderr } = await project.run("-c", "c.json", "--no-cache");
      assert.equal(exit, 0, stderr);
      copyFileSync(join(root, "rules/list.rpz"), zone);
    };
    await publish();
    const [bind] = secondaries;
    const primary = startServer(
      primaryCommand(place, zone, [{ port: listener.port, how: bind!.notify }]),
    );
    context.after(() => void primary.child.kill("SIGKILL"));
    const secondary = startServer(bind!.start(listener, place.port, 9));
    context.after(() => void secondary.child.kill("SIGKILL"));
    const followed = async (): Promise<number> => {
      const [, own] = /SOA \S+ \S+ (\d+)/.exec(readFileSync(zone, "utf8"))!;
      await whileNotifying(place, async () => {
        for (const end = Date.now() + PATIENCE_MS; serialAt(listener.port) !== Number(own);) {
          assert.ok(
            Date.now() < end,
            `${own}: primary ${serialAt(place.port)}, secondary ${serialAt(listener.port)}`,
          );
          await sleep(100);
        }
      });
      return Number(own);
    };
    const seen = [await followed()];
    const next = async (): Promise<void> => {
      await publish();
      reload(place);
      seen.push(await followed());
    };
    const backup = join(root, "backup");
    cpSync(join(root, "rules"), backup, { recursive: true });
    for (let run = 0; run < 3; run++) await next();
    rmSync(join(root, "rules"), { recursive: true });
    await next();
    rmSync(join(root, "rules"), { recursive: true });
    cpSync(backup, join(root, "rules"), { recursive: true });
    await next();
    assert.deepEqual(
      seen,
      [...new Set(seen)].toSorted((a, b) => a - b),
      "each content has a serial of its own",
    );
  },
);
