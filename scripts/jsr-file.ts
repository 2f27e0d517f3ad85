import { readFileSync } from "node:fs";

/** The configuration for JSR, from package.json. */
export function jsrFile(): string {
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
    publish: {
      include: ["src", "schema.json", "README.md", "LICENSE", "CHANGELOG.md"],
      exclude: ["src/**/*.test.ts"],
    },
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}
