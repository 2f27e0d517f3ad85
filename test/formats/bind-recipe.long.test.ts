import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";
import { blocksOf } from "../support/markdown.ts";
import { Random } from "../support/random.ts";
import { relatedNames, relatedRules } from "../support/random-lists.ts";
import { askFrom } from "../support/resolvers/ask-from.ts";
import { startUpstream } from "../support/resolvers/dns-client.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import { startServer } from "../support/resolvers/zone-servers.ts";

const PATIENCE_MS = 60_000;
/** The address of a client of each view of the guide. */
const CLIENTS = { ads: "127.0.1.1", strict: "127.0.1.2" } as const;

test("the views of the guide: BIND gives each group of clients its list", async (context) => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/guide/several-lists.md"), "utf8");
  const fileOf = (title: string): string =>
    blocksOf(page).find((block) => block.title === title)!.text;
  const project = new DiskProject(context);
  const random = new Random(36);
  project.write("ads.txt", relatedRules(random, 60, true).join("\n"));
  const tracked = relatedNames(random, 60).map((name) => `0.0.0.0 ${name}`);
  project.write("trackers.txt", tracked.join("\n"));
  project.write("social.txt", "");
  project.write("zones.yaml", fileOf("zones.yaml"));
  const { exit, stderr } = await project.run("-c", "zones.yaml");
  assert.equal(exit, 0, stderr);

  const upstream = await startUpstream();
  context.after(() => upstream.close());
  const port = await freeTcpPort();
  const views = fileOf("views.conf")
    .replace("192.0.2.0/25", CLIENTS.ads)
    .replaceAll("/var/lib/rules/", join(project.folder, "rules/"));
  project.write(
    "named.conf",
    `options { directory "${project.folder}"; pid-file none; session-keyfile none; listen-on port ${port} { 127.0.0.1; };
 listen-on-v6 { none; }; recursion yes; allow-recursion { any; }; dnssec-validation no;
 forward only; forwarders { 127.0.0.1 port ${upstream.port}; }; };
controls {};
${views}`,
  );
  const named = startServer(["named", "-g", "-n", "1", "-c", join(project.folder, "named.conf")]);
  context.after(() => named.child.kill("SIGKILL"));
  const names = relatedNames(random, 2000)
    .flatMap((name) => [name, `a.${name}`, `b.c.${name}`, `not-${name}`])
    .slice(0, 1000);
  assert.equal(names.length, 1000);
  const began = Date.now();
  while (!named.log().includes("all zones loaded")) {
    assert.ok(Date.now() - began < PATIENCE_MS && named.child.exitCode === null, named.log());
    await sleep(50);
  }
  for (const [list, client] of Object.entries(CLIENTS)) {
    const rules = new NaiveNames(project.text(`rules/${list}.txt`));
    const expected = names.filter((name) => rules.isBlocked(name));
    assert.ok(expected.length > 100 && expected.length < 900, `${expected.length}`);
    // The zones are in use a moment after they are loaded.
    for (; Date.now() - began < PATIENCE_MS; await sleep(100))
      if ((await askFrom(client, port, [expected[0]!]))[0] === true) break;
    const said = await askFrom(client, port, names);
    assert.deepEqual(
      names.filter((_, index) => said[index]),
      expected,
      `${list}: ${said.filter(Boolean).length} blocked`,
    );
    context.diagnostic(
      `BIND, the view of ${list}: ${names.length} names, ${expected.length} blocked, 0 wrong`,
    );
  }
});
