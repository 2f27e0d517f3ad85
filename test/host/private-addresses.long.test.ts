import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";

const SPACE = "rules-compiler-test";

function ip(...args: string[]): void {
  const { status, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  assert.equal(status, 0, `ip ${args.join(" ")}: ${stderr}`);
}

test("no request reaches a private address through redirects, names or rebinding", (context) => {
  spawnSync("ip", ["netns", "del", SPACE]);
  ip("netns", "add", SPACE);
  const etc = join("/etc/netns", SPACE);
  mkdirSync(etc, { recursive: true });
  writeFileSync(join(etc, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  writeFileSync(join(etc, "hosts"), "127.0.0.1 localhost\n");
  try {
    ip("netns", "exec", SPACE, "ip", "link", "set", "lo", "up");
    for (const address of ["93.184.216.34", "10.0.0.1", "169.254.169.254", "192.168.7.7"])
      ip("netns", "exec", SPACE, "ip", "address", "add", `${address}/32`, "dev", "lo");
    const script = join(import.meta.dirname, "../support/private-addresses.ts");
    const inside = ["netns", "exec", SPACE, process.execPath, script];
    const { status, stdout, stderr } = spawnSync("ip", inside, { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const { asked, outcomes, rebinding, chains } = JSON.parse(stdout) as {
      asked: string[];
      outcomes: Record<string, string>;
      rebinding: string[];
      chains: number;
    };
    assert.deepEqual(asked, []);
    assert.equal(outcomes["direct"], "public");
    assert.equal(outcomes["by name"], "public");
    for (const [target, outcome] of Object.entries(outcomes)) {
      assert.notEqual(outcome, "SECRET", target);
      if (target !== "direct" && target !== "by name" && target !== "rebinding")
        assert.equal(outcome, "private-address", target);
    }
    assert.ok(rebinding.includes("public") && rebinding.includes("private-address"));
    assert.ok(chains >= 20);
    context.diagnostic(`${chains} chains, ${rebinding.length} rebindings: 0 private requests`);
  } finally {
    spawnSync("ip", ["netns", "del", SPACE]);
    rmSync(etc, { recursive: true, force: true });
  }
});
