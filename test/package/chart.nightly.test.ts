import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { PROGRAM } from "../support/command.ts";
import { kubernetesModels } from "../support/kubernetes.ts";
import { blocksOf } from "../support/markdown.ts";

/** The chart, rendered by the engine and the functions that Helm has (Go's templates with sprig), and checked by Kubernetes' schemas. */
const CHART = join(import.meta.dirname, "../../packaging/helm/rules-compiler");
const RUN_PAGE = join(import.meta.dirname, "../../docs/guide/run.md");
const RENDERER = join(import.meta.dirname, "../support/helm/render.go");

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Record<string, string>;
  readonly spec?: Record<string, unknown>;
}

interface Pod {
  readonly containers: readonly [
    {
      readonly args: string[];
      readonly env: object[];
      readonly volumeMounts: { readonly name: string; readonly mountPath: string }[];
    },
  ];
  readonly volumes: readonly {
    readonly name: string;
    readonly configMap?: { readonly name: string };
    readonly secret?: { readonly secretName: string };
    readonly persistentVolumeClaim?: { readonly claimName: string };
    readonly emptyDir?: { readonly sizeLimit: string };
  }[];
}

/** Builds the renderer; returns what renders the chart with values, as `helm install lists` does. */
function renderer(
  context: TestContext,
): (values: object) => { manifests: Manifest[]; problem: string } {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "render");
  const env = { ...process.env, GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOCACHE: folder };
  execFileSync("go", ["build", "-o", program, RENDERER], { env });
  const read = (file: string): string => readFileSync(join(CHART, file), "utf8");
  const names = readdirSync(join(CHART, "templates"));
  const templates = Object.fromEntries(names.map((name) => [name, read(`templates/${name}`)]));
  const defaults = parse(read("values.yaml")) as Record<string, unknown>;
  const chart = parse(read("Chart.yaml")) as Record<string, string>;
  return (values) => {
    const top = {
      Values: merged(defaults, values),
      Release: { Name: "lists" },
      Chart: { AppVersion: chart["appVersion"], Version: chart["version"] },
    };
    const input = JSON.stringify({ Templates: templates, Top: top });
    const { status, stdout, stderr } = spawnSync(program, { input, encoding: "utf8" });
    if (status !== 0) return { manifests: [], problem: stderr };
    const files = Object.values(JSON.parse(stdout) as Record<string, string>);
    const documents = files.flatMap((text) => parseAllDocuments(text));
    for (const { errors } of documents) assert.deepEqual(errors, []);
    const all = documents.map((one) => one.toJS() as Manifest | null);
    return { manifests: all.filter((one) => one !== null), problem: "" };
  };
}

const isMap = (one: unknown): one is object =>
  typeof one === "object" && one !== null && !Array.isArray(one);

/** Helm merges maps, and replaces everything else. */
function merged(defaults: object, values: object): object {
  const all = Object.entries(values).map(([key, value]: [string, unknown]) => {
    const old = (defaults as Record<string, unknown>)[key];
    return [key, isMap(old) && isMap(value) ? merged(old, value) : value];
  });
  return { ...defaults, ...Object.fromEntries(all) };
}

const podOf = (manifests: readonly Manifest[]): Pod => {
  const { spec } = manifests.find(({ kind }) => kind === "Deployment")!;
  return (spec as { template: { spec: Pod } }).template.spec;
};

const FULL = {
  config: {
    name: "List",
    sources: [{ name: "Own", source: "own.txt" }],
    outputs: [{ format: "hosts" }],
    manifest: { file: "manifest.json", key_file: "/secrets/signing/minisign.key" },
  },
  files: { "own.txt": "||ads.example^\n! 'quotes\", {{ braces }}\n", "decisions.txt": "" },
  secrets: ["signing", "serve"],
  args: ["--permit", "hooks", "--token-file", "/secrets/serve/token"],
  env: [{ name: "AWS_KEY", valueFrom: { secretKeyRef: { name: "aws", key: "id" } } }],
  storage: { rules: "20Gi", cache: "8Gi", tmp: "40Gi", className: "fast" },
};

test("Kubernetes' schemas accept the chart with files, secrets, arguments and sized volumes", async (context) => {
  const render = renderer(context);
  const models = await kubernetesModels();
  const example = blocksOf(readFileSync(RUN_PAGE, "utf8")).find(
    ({ title }) => title === "values.yaml",
  )!;
  for (const values of [{}, FULL, parse(example.text) as object]) {
    const { manifests, problem } = render(values);
    assert.equal(problem, "");
    for (const manifest of manifests) new models[manifest.kind]!(manifest).validate();
    const kinds = manifests.map(({ kind }) => kind).toSorted();
    const volumes = ["PersistentVolumeClaim", "PersistentVolumeClaim"];
    assert.deepEqual(kinds, ["ConfigMap", "Deployment", ...volumes, "Service"]);
    // What a pod names must exist.
    const { containers, volumes: mounted } = podOf(manifests);
    const claims = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    for (const { configMap, persistentVolumeClaim: claim } of mounted) {
      if (configMap !== undefined) assert.ok(claims.has(`ConfigMap ${configMap.name}`));
      if (claim !== undefined) assert.ok(claims.has(`PersistentVolumeClaim ${claim.claimName}`));
    }
    assert.deepEqual(
      containers[0].volumeMounts.map(({ name }) => name),
      mounted.map(({ name }) => name),
    );
  }
  const { manifests } = render(FULL);
  const { containers, volumes } = podOf(manifests);
  const [{ args, env, volumeMounts }] = containers;
  assert.deepEqual(args.slice(0, 4), ["serve", "--listen", "0.0.0.0", "--schedule"]);
  assert.deepEqual(args.slice(5), FULL.args);
  assert.deepEqual(env, FULL.env);
  for (const name of FULL.secrets) {
    const volume = volumes.find(({ secret }) => secret?.secretName === name)!;
    const mount = volumeMounts.find((one) => one.name === volume.name)!;
    assert.equal(mount.mountPath, `/secrets/${name}`);
  }
  assert.equal(volumes.find(({ name }) => name === "tmp")!.emptyDir!.sizeLimit, "40Gi");
  const sizes = manifests.flatMap(({ kind, spec }) =>
    kind === "PersistentVolumeClaim" ? [JSON.stringify(spec)] : [],
  );
  for (const [index, size] of ["8Gi", "20Gi"].entries())
    assert.match(sizes[index]!, new RegExp(`"fast".*"${size}"`));
  const broken = manifests.find(({ kind }) => kind === "Deployment")!;
  const replicas = { ...broken, spec: { ...broken.spec, replicas: "many" } };
  assert.throws(() => new models["Deployment"]!(replicas).validate());
});

test("the program accepts the configuration, the files and the arguments that the chart has", (context) => {
  const render = renderer(context);
  const { manifests } = render({ ...FULL, config: { ...FULL.config, manifest: undefined } });
  const folder = mkdtempSync(join(tmpdir(), "chart-config-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const { data } = manifests.find(({ kind }) => kind === "ConfigMap")!;
  for (const [name, text] of Object.entries(data!)) writeFileSync(join(folder, name), text);
  assert.equal(readFileSync(join(folder, "own.txt"), "utf8"), FULL.files["own.txt"]);
  const run = (...words: string[]): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, [PROGRAM, ...words], {
      encoding: "utf8",
      timeout: 60_000,
      env: { ...process.env, CONFIG_PATH: folder, RULES_DIR: join(folder, "rules"), PORT: "0" },
    });
  const compiled = run("compile", "--no-cache");
  assert.equal(compiled.status, 0, compiled.stderr);
  assert.match(readFileSync(join(folder, "rules/list.hosts"), "utf8"), /ads\.example/);
  // It ends at the missing secret, not at an argument before it.
  const [{ args }] = podOf(manifests).containers;
  const served = run(...args);
  assert.equal(served.status, 2, served.stderr);
  assert.match(served.stderr, /\/secrets\/serve\/token/);
  // A file cannot take the place of the configuration.
  const { problem } = render({ files: { "compiler-config.json": "{}" } });
  assert.match(problem, /set config instead/);
});
