/**
 * Mutates the code of guards, publishing and trust, and checks that the tests fail: `node scripts/mutation.ts [part]`. Prints
 * the surviving mutants and the share of killed ones.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");

const PARTS: Readonly<
  Record<string, { readonly files: readonly string[]; readonly tests: readonly string[] }>
> = {
  guards: {
    files: [
      "src/build/guards/list-size.ts",
      "src/build/guards/source-size.ts",
      "src/build/guards/registry.ts",
      "src/build/guards/guard.ts",
      "src/meaning/name-watch.ts",
      "src/meaning/verdict.ts",
    ],
    tests: [
      "test/safety/guard-limits.test.ts",
      "test/safety/guards.test.ts",
      "test/safety/allow.test.ts",
    ],
  },
  publish: {
    files: ["src/publish/list-file.ts", "src/publish/output-lock.ts"],
    tests: [
      "test/safety/publish.test.ts",
      "test/safety/output-lock.test.ts",
      "test/regressions.test.ts",
    ],
  },
  trust: {
    files: ["src/transformations/trust.ts", "src/syntax/trust.ts", "src/syntax/name-pattern.ts"],
    tests: [
      "test/safety/trust-limits.test.ts",
      "test/safety/trust.test.ts",
      "test/safety/guards.test.ts",
    ],
  },
};

/** Replacements that make a mutant. */
const CHANGES: readonly (readonly [RegExp, string])[] = [
  [/ === /g, " !== "],
  [/ !== /g, " === "],
  [/ < /g, " <= "],
  [/ <= /g, " < "],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ && /g, " || "],
  [/ \|\| /g, " && "],
  [/ \+ /g, " - "],
  [/ - /g, " + "],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
  [/if \(!/g, "if ("],
  [/if \((?!!)/g, "if (!"],
  [/\breturn (?=[a-z(!][^;]*;)/g, "return undefined as never; //"],
  [/^(\s+)(?:await )?(?:this|host|chunk|outputs?)\.[a-z]\w*\(.*\);$/gm, "$1;"],
];

interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly source: string;
}

function* mutantsOf(file: string): Generator<Mutant> {
  const source = readFileSync(join(root, file), "utf8");
  const lines = source.split("\n");
  for (const [index, line] of lines.entries()) {
    // Comments and types do not affect a test.
    if (/^\s*(?:\/\/|\/?\*|import|export (?:type|interface)|readonly|\|)/.test(line)) continue;
    for (const [from, to] of CHANGES)
      for (const match of line.matchAll(from)) {
        const text = `${line.slice(0, match.index)}${match[0].replace(new RegExp(from.source, from.flags.replace("g", "")), to)}${line.slice(match.index + match[0].length)}`;
        if (text === line) continue;
        yield {
          file,
          line: index + 1,
          text: text.trim(),
          source: [...lines.slice(0, index), text, ...lines.slice(index + 1)].join("\n"),
        };
      }
  }
}

const copy = mkdtempSync(join(tmpdir(), "mutation-"));
for (const name of ["src", "test", "package.json"])
  cpSync(join(root, name), join(copy, name), {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
let failed = false;
try {
  for (const [part, { files, tests }] of Object.entries(PARTS)) {
    if (process.argv[2] !== undefined && process.argv[2] !== part) continue;
    let noticed = 0;
    let all = 0;
    for (const file of files)
      for (const mutant of mutantsOf(file)) {
        const path = join(copy, file);
        writeFileSync(path, mutant.source);
        const { status } = spawnSync(process.execPath, ["--test", ...tests], {
          cwd: copy,
          timeout: 60_000,
          stdio: "ignore",
        });
        writeFileSync(path, readFileSync(join(root, file)));
        all++;
        if (status !== 0) noticed++;
        else process.stdout.write(`not noticed: ${mutant.file}:${mutant.line} ${mutant.text}\n`);
      }
    const share = (noticed / all) * 100;
    process.stdout.write(`${part}: ${noticed} of ${all} changes noticed, ${share.toFixed(1)} %\n`);
    failed ||= share < 85;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
