import { readFileSync } from "node:fs";

const PERMISSIONS = ["read", "write", "net", "run", "env"].map((name) => `--allow-${name}`);

/** The task runs where it was called, and without npm: Deno fetches what `imports` names. The program finds this file by its own path. */
const COMPILE = `export DENO_NO_PACKAGE_JSON=1 CLONE="$PWD" && cd "$INIT_CWD" && deno run ${PERMISSIONS.join(" ")} "$CLONE/src/cli/bin.ts"`;

/** The configuration for Deno and JSR, from package.json. */
export function denoFile(): string {
  const { version, license, dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    version: string;
    license: string;
    dependencies: Record<string, string>;
  };
  const imports = Object.entries(dependencies).map(([name, wanted]) => [
    name,
    `npm:${name}@${wanted}`,
  ]);
  const file = {
    name: "@rules-compiler/rules-compiler",
    version,
    license,
    exports: {
      ".": "./src/index.ts",
      "./cli": "./src/cli/bin.ts",
      "./dns-api": "./src/dns-api/index.ts",
    },
    imports: Object.fromEntries(imports) as object,
    lock: false,
    tasks: { compile: COMPILE },
    publish: {
      include: ["src", "schema.json", "README.md", "LICENSE", "CHANGELOG.md"],
    },
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}
