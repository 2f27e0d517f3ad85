import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A way to start the program. */
export interface Door {
  readonly door: string;
  /** As it was promised. */
  readonly promised: string;
  /** What there is instead, or the very same. */
  readonly get: string;
  /** In a clone, today. */
  readonly run: string;
  /** The file or folder that provides it. */
  readonly file: string;
  /** The test that runs it; undefined if its program cannot be installed from Debian or npm. */
  readonly test?: string;
}

export const doors: readonly Door[] = [
  {
    door: "TypeScript runtime",
    promised:
      "task `compile`, arguments after `--`, with permissions to read, write, use the network and start programs; 2.0 or newer",
    get: "the same, on Deno 2.0 or newer, without npm; also Node 22.19 and Bun",
    run: "`deno task compile -- -c my-list.yaml`",
    file: "deno.json",
    test: "test/package/deno-task.long.test.ts",
  },
  {
    door: "Python",
    promised: "console command `rules-compiler`; Python 3.9 or newer",
    get: "a wheel of the release with that command, which starts the executable inside",
    run: "`node scripts/release.ts`, then `pip install release/*.whl`",
    file: "packaging/python",
    test: "test/package/release.nightly.test.ts",
  },
  {
    door: "Rust",
    promised: "release binary `rules-compiler`; Rust 1.70 or newer",
    get: "a crate whose binary starts the sources of the clone, an executable in `PATH` or the npm package; and executables of that name in the release",
    run: "`cargo build --release` in `packaging/cargo`",
    file: "packaging/cargo",
    test: "test/package/crate.nightly.test.ts",
  },
  {
    door: ".NET",
    promised: "console project, run with arguments; target framework `net10.0`",
    get: "a tool for .NET 10 with the same arguments, which starts the executable inside; there is no project to run",
    run: "`node scripts/release.ts`, then `dotnet tool install --add-source release rules-compiler`; the tests run the executable inside, not dotnet",
    file: "scripts/packages/nuget-packages.ts",
  },
  {
    door: "PowerShell",
    promised: "module manifest, imported by path; PowerShell 7 or newer",
    get: "the same; its commands return objects",
    run: "`Import-Module ./packaging/powershell/RulesCompiler.psd1`; the tests compare what the module reads with what the program prints, without PowerShell",
    file: "packaging/powershell",
  },
  {
    door: "container image",
    promised: "the program is packaged as one",
    get: "the same: serves on port 5000, compiles every six hours",
    run: "`docker compose up -d`",
    file: "Dockerfile",
    test: "test/package/container.nightly.test.ts",
  },
  {
    door: "Helm chart",
    promised: "nothing",
    get: "a chart that runs the image",
    run: "`helm install lists packaging/helm/rules-compiler`, once a registry has the image",
    file: "packaging/helm",
    test: "test/package/chart.nightly.test.ts",
  },
];

/** Throws if a file or test of a door is missing, or if a door exists that is not listed. */
export function checkDoors(listed: readonly Door[] = doors): void {
  for (const { door, file, test } of listed)
    for (const path of test === undefined ? [file] : [file, test])
      if (!existsSync(join(root, path))) throw new Error(`${door}: ${path} does not exist`);
  const folders = readdirSync(join(root, "packaging"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `packaging/${name}`);
  for (const folder of folders)
    if (!listed.some(({ file }) => file === folder))
      throw new Error(`${folder} is a door that test/specification/doors.ts does not list`);
}
