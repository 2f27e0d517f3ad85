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
import process from "node:process";
import { after, before, test } from "node:test";
import { asNewcomer } from "../support/newcomer.ts";
import { blocksOf, endBackground, follow } from "../support/markdown.ts";

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
    env: {
      ...process.env,
      CI: "true",
      PATH: `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`,
    },
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
        !/^package\/(?:dist\/(?:commit|.*\.(?:c?js|c?js\.map|d\.ts))|docs\/.*\.(?:md|1)|(?:documents\.)?schema\.json|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(
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

test("an installation has at most six libraries and 8 MB", (context) => {
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
  assert.ok(bytes <= 8_000_000, String(bytes));
});

test("the bundle exports what the sources export, and --version loads no engine", async () => {
  for (const entry of ["index", "dns-api/index"])
    assert.deepEqual(
      Object.keys((await import(join(root, `dist/${entry}.js`))) as object).toSorted(),
      Object.keys((await import(join(root, `src/${entry}.ts`))) as object).toSorted(),
    );
  const chunks = join(root, "dist/chunks");
  const program = readdirSync(chunks).find((file) => /^program-.*\.cjs$/.test(file))!;
  const required = readFileSync(join(chunks, program), "utf8").matchAll(
    /^const \w+ = require\("\.\/(\w+)-/gm,
  );
  assert.deepEqual(
    [...required].map(([, stage]) => stage),
    [],
  );
  const bin = readFileSync(join(root, "dist/cli/bin.js"), "utf8");
  assert.doesNotMatch(bin, /^import .*chunks/m);
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

/** Follows a page in the folder, with the command of the package. */
async function followPage(
  name: string,
  change: (text: string) => string = (text) => text,
): Promise<number> {
  return await follow(blocksOf(readFileSync(join(root, "docs", name), "utf8")), {
    write: (title, text) => writeFileSync(join(folder, title), change(text)),
    run: async (script) => {
      const { status, stdout, stderr } = shell(change(script));
      return { code: status, said: stdout + stderr };
    },
  });
}

test("start page: from an empty folder to a compiled list, in less than a minute", async (context) => {
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  await asNewcomer(context, async () => {
    mustRun(`npm install --no-audit --no-fund --silent ./${tarball}`);
    assert.ok((await followPage("guide/start.md")) > 25);
  });
  assert.match(
    readFileSync(join(folder, "rules/my-list.txt"), "utf8"),
    /\n\|\|tracker\.example\.net\^\n@@\|\|www\.shop\.example\^\n$/,
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

test("guide: the commands of the serve page work", async (context) => {
  context.after(() => endBackground(folder));
  await followPage("guide/serve.md");
});

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
  assert.equal(await followPage("reference/dns-api.md", here), 2);
});

test("a misspelt option, a missing file and an unreachable source give one message, the right exit code and no stack", () => {
  for (const [command, exit, text] of [
    ["rules-compiler -c my-lst.yaml", 2, /Configuration file not found: my-lst\.yaml/],
    ["rules-compiler --confg x", 2, /Did you mean --config\?/],
    [
      "rules-compiler -i http://127.0.0.1:9/list.txt -o x.txt",
      4,
      /Failed to fetch http:\/\/127\.0\.0\.1:9\/list\.txt/,
    ],
    [
      "rules-compiler -i hosts.txt -o /proc/nowhere/x.txt",
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
    /\bcompile\b.* from "\.\/library\/build\.ts"/,
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
