import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { asNewcomer } from "../support/newcomer.ts";
import { blocksOf } from "../support/markdown.ts";

/** What a newcomer does: the packed package in an empty folder, and the pages followed word for word. */
const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "newcomer-"));
let tarball = "";

/** The part of `@arethetypeswrong/core` that is used here. */
interface AreTheTypesWrong {
  createPackageFromTarballData(tarball: Uint8Array): unknown;
  checkPackage(packed: unknown): Promise<{
    readonly problems: readonly { readonly kind: string; readonly resolutionKind?: string }[];
  }>;
}

function shell(command: string): { stdout: string; stderr: string; status: number | null } {
  return spawnSync("bash", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, CI: "true" },
  });
}

function mustRun(command: string): { stdout: string; stderr: string } {
  const result = shell(command);
  assert.equal(result.status, 0, `${command}\n${result.stdout}${result.stderr}`);
  return result;
}

before(() => {
  mustRun(`npm pack '${root}' --pack-destination . --silent`);
  tarball = readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "";
  assert.notEqual(tarball, "");
});
after(() => rmSync(folder, { recursive: true }));

test("the package contains the files it needs and no others", () => {
  const files = mustRun(`tar -tzf ${tarball}`).stdout.trim().split("\n");
  assert.ok(files.includes("package/dist/cli/bin.js"));
  assert.ok(files.includes("package/schema.json"));
  assert.deepEqual(
    files.filter(
      (file) =>
        !/^package\/(?:dist\/(?:commit|.*\.(?:js|js\.map|d\.ts))|docs\/.*\.(?:md|1)|(?:documents\.)?schema\.json|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(
          file,
        ),
    ),
    [],
  );
  assert.deepEqual(
    files.filter((file) => file.includes(".test.")),
    [],
  );
});

/** The sum of the sizes of the files below a folder. */
function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

test("an installation has at most six libraries and 7 MB", (context) => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; dependencies?: Record<string, string> }>;
  };
  assert.ok(Object.keys(packages[""]!.dependencies!).length <= 6);
  mkdirSync(join(folder, "unpacked"));
  mustRun(`tar -xzf ${tarball} -C unpacked`);
  const installed = Object.keys(packages).filter((at) => at !== "" && packages[at]!.dev !== true);
  const bytes = installed.reduce(
    (sum, at) => sum + bytesIn(join(root, at)),
    bytesIn(join(folder, "unpacked")),
  );
  context.diagnostic(`${(bytes / 1e6).toFixed(2)} MB with ${installed.length} packages`);
  assert.ok(bytes <= 7_000_000, String(bytes));
});

test("the bundle exports what the sources export, and --version loads no engine", async () => {
  for (const entry of ["index", "dns-api/index"])
    assert.deepEqual(
      Object.keys((await import(join(root, `dist/${entry}.js`))) as object).toSorted(),
      Object.keys((await import(join(root, `src/${entry}.ts`))) as object).toSorted(),
    );
  const chunks = join(root, "dist/chunks");
  const start = readdirSync(chunks).find((file) => /^start-.*\.js$/.test(file))!;
  const imported = [...readFileSync(join(chunks, start), "utf8").matchAll(/ from "\.\/(\w+)-/g)];
  assert.deepEqual(
    imported.map(([, stage]) => stage),
    ["begin"],
  );
});

test("every way of importing the package finds its types", async () => {
  const wrong = (await import(
    join(root, "test/tools/node_modules/@arethetypeswrong/core/dist/index.js")
  )) as AreTheTypesWrong;
  const packed = wrong.createPackageFromTarballData(readFileSync(join(folder, tarball)));
  const { problems } = await wrong.checkPackage(packed);
  // Of a package of ES modules: CommonJS, and resolvers older than `exports`, cannot find it by design.
  const others = problems.filter(
    ({ resolutionKind = "" }) => !["node10", "node16-cjs"].includes(resolutionKind),
  );
  assert.deepEqual(others, []);
});

test("start page: from an empty folder to a compiled list, in less than a minute", (context) => {
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  const outputs: string[] = [];
  asNewcomer(context, () => {
    for (const { language, title, text } of blocksOf(
      readFileSync(join(root, "docs/guide/start.md"), "utf8"),
    )) {
      // Other ways to install it are tried in a container.
      if (language === "sh" && title !== undefined) continue;
      if (language === "sh") {
        const command = text.replace(
          "npm install rules-compiler",
          `npm install --no-audit --no-fund --silent ./${tarball}`,
        );
        outputs.push(mustRun(command).stderr);
      } else if (title === "output") {
        expectLines(outputs.at(-1)!, text);
      } else if (title !== undefined) writeFileSync(join(folder, title), text);
    }
  });
  assert.match(
    readFileSync(join(folder, "rules/my-list.txt"), "utf8"),
    /\n\|\|ads\.example\.com\^\n\|\|tracker\.example\.net\^\n$/,
  );
  assert.match(
    readFileSync(join(folder, "list.txt"), "utf8"),
    /\n\|\|ads\.example\.com\^\n\|\|good\.example\.com\^\n$/,
  );
});

test("guide: the library examples run as printed", () => {
  const blocks = blocksOf(readFileSync(join(root, "docs/guide/library.md"), "utf8"));
  // Its files have names that the start page uses, too.
  mkdirSync(join(folder, "library"));
  for (const { title, text } of blocks)
    if (title !== undefined && title !== "output")
      writeFileSync(join(folder, "library", title), text);
  for (const [index, { language, title }] of blocks.entries())
    if (language === "ts")
      expectLines(mustRun(`cd library && node ${title!}`).stdout, blocks[index + 1]!.text);
});

/** Runs all commands of a page in one shell, and compares what each printed. */
function followPage(name: string, change: (text: string) => string = (text) => text): void {
  const blocks = blocksOf(readFileSync(join(root, "docs/guide", name), "utf8"));
  const commands = blocks.filter(({ language }) => language === "sh");
  const script = commands
    .map(({ text }, index) => `echo "=== ${index}"\n${change(text)}`)
    .join("\n");
  const { stdout } = mustRun(`set -e\n${script}`);
  const printed = stdout.split(/^=== \d+\n/m).slice(1);
  let at = -1;
  for (const [index, { language, title, text }] of blocks.entries())
    if (language === "sh") at++;
    else if (title === "output" && blocks[index - 1]?.language === "sh")
      expectLines(printed[at]!, text);
}

test("guide: the commands of the serve page work", () => followPage("serve.md"));

test("guide: account limits with the command and the library", async (context) => {
  const answer = JSON.stringify({ user_rules: { used: 200, limit: 1000 }, plan: "team" });
  const api = spawn(process.execPath, [
    "-e",
    `require("http").createServer((_, r) => r.end(${JSON.stringify(answer)})).listen(0, "127.0.0.1", function () { console.log(this.address().port) })`,
  ]);
  context.after(() => api.kill());
  const [port] = (await once(api.stdout, "data")) as [Uint8Array];
  const url = `http://127.0.0.1:${String(port).trim()}`;
  writeFileSync(join(folder, "key.txt"), "a-key\n");
  const here = (text: string): string => text.replace("https://api.example.com", url);
  const [, , , code, printed] = blocksOf(readFileSync(join(root, "docs/guide/dns-api.md"), "utf8"));
  followPage("dns-api.md", (text) => here(text));
  writeFileSync(join(folder, code!.title!), code!.text);
  expectLines(
    mustRun(`DNS_API_URL=${url} DNSAPI_API_KEY=x node ${code!.title!}`).stdout,
    printed!.text,
  );
});

test("a misspelt option, a missing file and an unreachable source give one message, the right exit code and no stack", () => {
  for (const [command, exit, text] of [
    ["npx rules-compiler -c my-lst.yaml", 2, /Configuration file not found: my-lst\.yaml/],
    ["npx rules-compiler --confg x", 2, /Did you mean --config\?/],
    [
      "npx rules-compiler -i http://127.0.0.1:9/list.txt -o x.txt",
      4,
      /Failed to fetch http:\/\/127\.0\.0\.1:9\/list\.txt/,
    ],
    [
      "npx rules-compiler -i hosts.txt -o /proc/nowhere/x.txt",
      6,
      /Cannot write \/proc\/nowhere\/x\.txt/,
    ],
  ] as const) {
    const { status, stderr } = shell(command);
    assert.equal(status, exit, `${command}: ${stderr}`);
    assert.match(stderr, text);
    assert.doesNotMatch(stderr, /\n\s+at /);
  }
});

test("the package provides types", () => {
  const { stdout } = mustRun(`npm ls --omit=dev --all --parseable --silent | wc -l`);
  assert.ok(Number(stdout) <= 14, "the tree stays small");
  assert.match(
    readFileSync(join(folder, "node_modules/rules-compiler/dist/index.d.ts"), "utf8"),
    /export declare function compile\(/,
  );
});

/** Each line of the page must begin a line of the output, in order: figures that vary may follow. */
function expectLines(actual: string, expected: string): void {
  const lines = actual.split("\n");
  let at = 0;
  for (const line of expected.trimEnd().split("\n")) {
    while (at < lines.length && !lines[at]!.startsWith(line)) at++;
    assert.ok(at < lines.length, `not printed: ${line}\n${actual}`);
    at++;
  }
}
