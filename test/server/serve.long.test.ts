import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";
import { Served } from "../support/served.ts";

const LINES = Array.from({ length: 200 }, (_, index) => `||d${index}.example^`);

test(
  "serves the compiled list, and the next one after a request, a signal and a restart",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, LINES);
    await served.start("--schedule", "0 0 1 1 *");
    assert.equal((await served.event("run-ended"))["outcome"], "published");
    const health = await fetch(served.url("/health"));
    assert.equal(health.status, 200);
    assert.equal(((await health.json()) as { status: string }).status, "healthy");
    const list = await fetch(served.url("/rules/my-list.txt"));
    assert.equal(await list.text(), readFileSync(join(served.folder, "rules/my-list.txt"), "utf8"));
    const etag = list.headers.get("etag")!;
    served.write([...LINES, "||more.example^"]);
    const posted = await served.post("/compile");
    // A runtime's own fetch may mark itself as a page; the answer is then no.
    if (posted.status === 403) served.child.kill("SIGHUP");
    else assert.deepEqual(await posted.json(), { state: "started" });
    assert.equal((await served.event("run-ended", 2))["outcome"], "published");
    const again = await fetch(served.url("/rules/my-list.txt"), {
      headers: { "if-none-match": etag },
    });
    assert.equal(again.status, 200);
    assert.match(await again.text(), /more\.example/);
    served.child.kill("SIGHUP");
    assert.equal((await served.event("run-ended", 3))["outcome"], "unchanged");
    const before = await (await fetch(served.url("/metrics"))).text();
    assert.match(before, /runs_total\{outcome="published"\} 2\n/);
    assert.equal(await served.stop(), 0);
    // The last success is younger than the last moment of the schedule: no run at the start.
    await served.start("--schedule", "0 0 1 1 *");
    await served.event("next-run");
    assert.match(
      await (await fetch(served.url("/metrics"))).text(),
      /runs_total\{outcome="published"\} 2\n/,
    );
    assert.equal((await fetch(served.url("/rules/my-list.txt"))).status, 200);
    assert.equal(served.events.filter(({ event }) => event === "run-started").length, 0);
    assert.match(await (await fetch(served.url("/"))).text(), /My list/);
    const asking = await runProgram(["health", "--port", String(served.port)]);
    assert.equal(asking.exit, 0, asking.stderr);
    assert.match(asking.stdout, /^healthy: the last successful build is/);
    await served.stop("SIGINT");
    // Another name is another list: it is made at once.
    const config = readFileSync(join(served.folder, "compiler-config.json"), "utf8");
    writeFileSync(
      join(served.folder, "compiler-config.json"),
      config.replace("My list", "New name"),
    );
    const asked = served.port;
    await served.start("--schedule", "0 0 1 1 *");
    assert.equal((await served.event("run-ended"))["outcome"], "published");
    assert.equal((await fetch(served.url("/rules/new-name.txt"))).status, 200);
    await served.stop();
    served.port = asked;
    const gone = await runProgram(["health", "--port", String(served.port)]);
    assert.equal(gone.exit, 11);
    assert.match(gone.stderr, /error\[health-failed\]: No server responds/);
  },
);

test(
  "after a refused list or a broken configuration, the old list is served and the problem reported",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, LINES);
    await served.start("--schedule", "0 0 1 1 *");
    await served.event("run-ended");
    const good = await (await fetch(served.url("/rules/my-list.txt"))).text();
    served.write([...LINES.slice(1), "||apple.com^"]);
    served.child.kill("SIGHUP");
    const refused = await served.event("run-ended", 2);
    assert.equal(refused["outcome"], "refused");
    assert.equal(refused["exit"], 5);
    const problem = served.events.find(({ event }) => event === "problem");
    const place = new RegExp(`:${LINES.length}$`);
    assert.match(String(problem?.["at"]), place);
    assert.match(String(problem?.["hint"]), /allow/);
    const told = (await (await fetch(served.url("/health"))).json()) as {
      status: string;
      problems: { code: string; at: string }[];
    };
    assert.equal(told.status, "refused");
    assert.equal(told.problems[0]!.code, "blocks-protected");
    assert.match(told.problems[0]!.at, place);
    writeFileSync(join(served.folder, "compiler-config.json"), "{");
    served.child.kill("SIGHUP");
    assert.equal((await served.event("run-ended", 3))["outcome"], "failed");
    assert.equal(await (await fetch(served.url("/rules/my-list.txt"))).text(), good);
    const health = (await (await fetch(served.url("/health"))).json()) as {
      status: string;
      reason: string;
    };
    assert.equal(health.status, "healthy");
    assert.match(health.reason, /the last run reported: /);
    assert.match(
      await (await fetch(served.url("/metrics"))).text(),
      /guard_refusals_total\{guard="[a-z-]+"\} 1/,
    );
    const page = await (await fetch(served.url("/"))).text();
    assert.match(page, /The last list was refused; the previous one is served/);
    assert.equal(await served.stop(), 0);
  },
);

test(
  "SIGTERM during a scheduled run stops the run and the server at once, without leftovers",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, LINES);
    await served.start("--schedule", "* * * * * *");
    await served.event("run-ended", 3);
    const triggers = new Set(
      served.events.filter(({ event }) => event === "run-started").map((one) => one["trigger"]),
    );
    assert.deepEqual([...triggers], ["start", "schedule"]);
    // Enough to be busy with for a while.
    served.write(Array.from({ length: 400_000 }, (_, index) => `||e${index}.example^`));
    const runs = served.events.filter(({ event }) => event === "run-started").length;
    await served.event("run-started", runs + 1);
    const began = performance.now();
    assert.equal(await served.stop(), 0);
    assert.ok(performance.now() - began < 5000);
    assert.ok(!existsSync(join(served.folder, "rules/.my-list.txt.lock")));
    assert.equal(served.events.at(-1)!.event, "stopped");
  },
);

test(
  "400 silent connections and 300 with half a request do not keep /health from answering",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, LINES);
    await served.start("--schedule", "0 0 1 1 *");
    await served.event("run-ended");
    const sockets: Socket[] = [];
    context.after(() => sockets.forEach((socket) => socket.destroy()));
    for (let index = 0; index < 700; index++) {
      const socket = connect(served.port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      if (index % 7 < 3) socket.write("GET /rules/my-list.txt HTTP/1.1\r\nHost: x\r\nX-Slow: ");
      sockets.push(socket);
    }
    for (let index = 0; index < 20; index++) {
      const began = performance.now();
      const health = await fetch(served.url("/health"), { headers: { connection: "close" } });
      assert.equal(health.status, 200);
      await health.text();
      assert.ok(performance.now() - began < 2000);
    }
  },
);

test("settings that cannot work are reported before the server starts", async (context) => {
  const served = new Served(context, LINES);
  await served.start("--schedule", "0 0 1 1 *");
  await served.event("run-ended");
  const run = (...words: string[]): ReturnType<typeof runProgram> =>
    runProgram(["serve", "--no-cache", ...words], { cwd: served.folder });
  const taken = await run("--port", String(served.port));
  assert.equal(taken.exit, 6);
  assert.match(taken.stderr, /listen-failed.*Cannot listen on 127\.0\.0\.1 port \d+/);
  for (const [words, message] of [
    [["--schedule", "0 0 31 2 *"], /Invalid schedule 0 0 31 2 \*/],
    [["--port", "99999"], /--port must be a number/],
    [["--run-timeout", "soon"], /--run-timeout must be a duration/],
    [["-o", "-"], /serve cannot write to standard output/],
  ] as const) {
    const { exit, stderr } = await run(...words);
    assert.equal(exit, 2, stderr);
    assert.match(stderr, message);
  }
  const misplaced = await runProgram(["compile", "--port", "1"], { cwd: served.folder });
  assert.match(
    misplaced.stderr,
    /compile does not take --port[^]*It is an option of serve, status/,
  );
});

test(
  "each of several lists has its rules, files and report",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, LINES);
    const file = join(served.folder, "compiler-config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(join(served.folder, "more.txt"), "||more.example^\n");
    const [first] = (config as { sources: { name: string }[] }).sources;
    const sources = [first, { name: "More", source: "more.txt", type: "adblock" }];
    const lists = [{ name: "Light", sources: ["More"] }, { name: "Pro" }];
    const outputs = [{ format: "hosts", file: "{format}/{slug}.txt" }];
    writeFileSync(file, JSON.stringify({ ...config, name: "Our lists", sources, lists, outputs }));
    await served.start("--schedule", "0 0 1 1 *");
    assert.equal((await served.event("run-ended"))["outcome"], "published");
    const text = async (path: string): Promise<string> => {
      const response = await fetch(served.url(path));
      assert.equal(response.status, 200, path);
      return await response.text();
    };
    // Files of one name in two folders are two files.
    assert.match(await text("/rules/light.txt"), /^\|\|more\.example\^$/m);
    assert.match(await text("/rules/hosts/light.txt"), /^0\.0\.0\.0 more\.example$/m);
    // The reports are written after the lists.
    for (const until = Date.now() + 20_000; Date.now() < until;)
      if ((await fetch(served.url("/report/pro"))).status === 200) break;
    assert.match(await text("/report/light"), /<title>[^<]*Light/);
    assert.match(await text("/report/pro"), /<title>[^<]*Pro/);
    assert.equal((await fetch(served.url("/report"))).status, 404);
    assert.equal((await fetch(served.url("/report/other"))).status, 404);
    const page = await text("/");
    assert.match(page, /<h1>Our lists<\/h1>/);
    const row = (name: string): string =>
      page.slice(page.indexOf(`>${name}</a>`)).split("</tr>")[0]!;
    assert.match(row("light.txt"), /data-name="Rules">1</);
    assert.match(row("pro.txt"), /data-name="Rules">201</);
    assert.match(row("hosts/light.txt"), /data-name="Rules">1</);
    assert.match(row("pro.txt"), /href="report\/pro"/);
    await served.stop();
  },
);
