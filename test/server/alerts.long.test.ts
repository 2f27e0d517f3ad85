import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startInternet } from "../support/resolvers/internet.ts";
import { freePort } from "../support/resolvers/servers.ts";
import { Served } from "../support/served.ts";

const ALERTS = join(import.meta.dirname, "../../deploy/prometheus/alerts.yml");
const MINUTES = 30;
const PROMTOOL = "promtool";

function linesFrom(from: number, count = 60): string[] {
  return Array.from({ length: count }, (_, index) => `||n${from + index}.site.org^`);
}

/** Samples by series, as a page of metrics has them. */
type Scrape = ReadonlyMap<string, number>;

function scraped(page: string): Scrape {
  const samples = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

function seriesOf(metric: string, labels: string): string {
  return `rules_compiler_${metric}{${labels}}`;
}

/** The series with the labels of a scrape by Prometheus. */
function labelled(series: string): string {
  const own = 'job="rules-compiler",instance="x"';
  return series.endsWith("}") ? `${series.slice(0, -1)},${own}}` : `${series}{${own}}`;
}

/** A page, when it was read, and the alerts that it must cause, with their labels. */
interface Phase {
  readonly page: Scrape;
  readonly at: number;
  readonly alerts: Readonly<Record<string, string>>;
  /** Whether the server asks no resolver any more. */
  readonly isStill?: boolean;
}

/** What the server renews every minute. */
const RENEWED = /probe_timestamp|resolver_asked_timestamp/;

/** Each page for half an hour, as input of promtool; a series that a page lacks is stale then. */
function inputOf(phases: readonly Phase[]): string {
  const names = new Set(phases.flatMap(({ page }) => [...page.keys()]));
  const series = [...names].map((name) => {
    const values = phases.flatMap(({ page, at, isStill }, index) => {
      const value = page.get(name);
      if (value === undefined) return [`stale _x${MINUTES - 2}`];
      // The clock of promtool begins at zero.
      const isTime = name.includes("timestamp_seconds") || name.includes("start_time");
      const shown = isTime ? value - at + index * MINUTES * 60 : value;
      if (RENEWED.test(name) && isStill !== true) return [`${shown}+60x${MINUTES - 1}`];
      return Number.isFinite(shown) ? [`${shown}x${MINUTES - 1}`] : [`_x${MINUTES - 1}`];
    });
    return `      - { series: '${labelled(name)}', values: '${values.join(" ")}' }`;
  });
  return series.join("\n");
}

test("each alert fires on what the real server emits, and no other does", async (context) => {
  const internet = await startInternet();
  context.after(() => internet.close());
  const served = new Served(context, linesFrom(0));
  const at = (name: string): string => join(served.folder, name);
  const port = await freePort();
  const config = {
    name: "List",
    sources: [{ name: "a", source: "a.txt", type: "adblock" }],
    outputs: [{ format: "dnsmasq-servers", file: "list.dnsmasq" }],
    after: [
      { reload: "dnsmasq", pid_file: at("pid"), each: ["home"] },
      { name: "tell", run: ["sh", "-c", "test ! -e broken"], on: ["published", "refused"] },
    ],
    resolvers: [{ name: "home", address: `127.0.0.1:${port}` }],
  };
  writeFileSync(at("compiler-config.json"), JSON.stringify(config));
  writeFileSync(at("list.dnsmasq"), "");
  const words = `-k -p ${port} --listen-address=127.0.0.1 --bind-interfaces --no-resolv --no-hosts
    --server=127.0.0.1#${internet.port} --cache-size=0 --user=root --pid-file=${at("pid")}
    --servers-file=${at("rules/list.dnsmasq")}`;
  const start = (): ChildProcess => spawn("dnsmasq", words.split(/\s+/), { stdio: "ignore" });
  const dnsmasq = start();
  context.after(async () => {
    if (dnsmasq.exitCode !== null) return;
    const ended = new Promise((closed) => dnsmasq.on("close", closed));
    dnsmasq.kill("SIGKILL");
    await ended;
  });
  // No scheduled run comes between.
  const minute = (new Date().getMinutes() + 30) % 60;
  const schedule = ["--schedule", `0 ${minute} * * * *`];
  await served.start("--permit", "hooks", "--wait", "3s", "--json", ...schedule);
  /** The page when these series have these values. */
  const until = async (wanted: Readonly<Record<string, number>>): Promise<Scrape> => {
    for (;;) {
      const text = await (await fetch(served.url("/metrics"))).text();
      const page = scraped(text);
      const found = Object.entries(wanted).every(([name, value]) => page.get(name) === value);
      if (found && page.get("rules_compiler_run_in_progress") === 0) return page;
      await new Promise((later) => setTimeout(later, 300));
    }
  };
  const phases: Phase[] = [];
  const see = async (
    wanted: Readonly<Record<string, number>>,
    alerts: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const page = await until(wanted);
    phases.push({ page: new Map([...page, ["up", 1]]), at: Date.now() / 1000, alerts });
  };
  const compile = async (): Promise<void> => {
    const ended = served.events.filter(({ event }) => event === "run-ended").length;
    assert.equal((await served.post("/compile")).status, 202);
    await served.event("run-ended", ended + 1);
  };
  const proved = seriesOf("resolver_proved", 'resolver="home",list="List"');
  const tell = seriesOf("hook_failed", 'hook="tell"');
  const load = seriesOf("hook_failed", 'hook="reload dnsmasq for home"');
  const refused = "rules_compiler_list_refused";
  const refusals = seriesOf("guard_refusals_total", 'guard="blocks-suffix"');
  const isGood = { [proved]: 1, [tell]: 0, [load]: 0, [refused]: 0 };

  await served.event("run-ended");
  await see({ ...isGood, [refusals]: 0 }, {});
  served.write(["||com^"]);
  await compile();
  await see(
    { ...isGood, [refused]: 1, [refusals]: 1 },
    { RulesCompilerListRefused: "severity: warning" },
  );
  served.write(linesFrom(1));
  writeFileSync(at("broken"), "");
  await compile();
  await see({ ...isGood, [tell]: 1 }, { RulesCompilerHookFailed: "severity: warning, hook: tell" });
  rmSync(at("broken"));
  await compile();
  await see(isGood, {});
  renameSync(at("pid"), at("pid.away"));
  served.write(linesFrom(2));
  await compile();
  await see(
    { ...isGood, [proved]: 0, [load]: 1 },
    {
      RulesCompilerHookFailed: "severity: warning, hook: reload dnsmasq for home",
      RulesCompilerResolverUnproved: "severity: critical, resolver: home, list: List",
    },
  );
  renameSync(at("pid.away"), at("pid"));
  await compile();
  await see(isGood, {});
  const old = { RulesCompilerProofOld: "severity: critical" };
  phases.push({ ...phases.at(-1)!, alerts: old, isStill: true });
  await served.stop("SIGKILL");
  phases.push({
    page: new Map([["up", 0]]),
    at: Date.now() / 1000,
    alerts: { RulesCompilerDown: "severity: critical" },
  });

  const page = phases[0]!.page;
  for (const metric of [
    "probe_timestamp_seconds",
    seriesOf("resolver_asked_timestamp_seconds", 'resolver="home",list="List"'),
    seriesOf("resolver_unanswered_seconds", 'resolver="home",list="List"'),
  ])
    assert.ok(
      [...page.keys()].some((key) => key.endsWith(metric)),
      metric,
    );
  const counters = [...phases.at(-2)!.page.keys()].filter((key) => key.includes("_total"));
  const born = counters.filter((key) => !page.has(key) && !key.includes("http_requests"));
  assert.deepEqual(born, [], "a counter that is born later has no increase");

  // Annotations are compared, too; they are for people.
  const rules = readFileSync(ALERTS, "utf8").replace(/ {8}annotations:\n(?: {10}.*\n)+/g, "");
  writeFileSync(at("alerts.yml"), rules);
  const all = [...rules.matchAll(/- alert: (?<alert>\w+)/g)].map(({ groups }) => groups!["alert"]!);
  assert.equal(all.length, 15);
  const expected = phases.flatMap(({ alerts }, index) =>
    all.map((alert) => {
      const labels = alerts[alert];
      const found = labels === undefined ? "[]" : `[{ exp_labels: { ${labels}, ${OWN} } }]`;
      return `      - { eval_time: ${(index + 1) * MINUTES - 15}m, alertname: ${alert}, exp_alerts: ${found} }`;
    }),
  );
  writeFileSync(
    at("test.yml"),
    `rule_files: [alerts.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
${inputOf(phases)}
    alert_rule_test:
${expected.join("\n")}
`,
  );
  const tested = ["test", "rules", at("test.yml")];
  const { status, stdout, stderr } = spawnSync(PROMTOOL, tested, {
    encoding: "utf8",
  });
  assert.equal(status, 0, `${stdout}${stderr}`.slice(0, 4000));
});

const OWN = "instance: x, job: rules-compiler";
