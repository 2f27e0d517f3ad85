import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DESCRIPTION, HOMEPAGE, inFolder, programName, zip } from "./release.ts";
import type { Release } from "./release.ts";

/** The targets by their name in .NET. */
const RUNTIMES: Record<string, string> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "darwin-x64": "osx-x64",
  "darwin-arm64": "osx-arm64",
  "windows-x64": "win-x64",
};

/** Every part of a package needs a content type; programs for Linux and macOS have no extension. */
function contentTypes(runtime: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  <Default Extension="nuspec" ContentType="application/octet" />
  <Default Extension="xml" ContentType="application/octet" />
  <Default Extension="exe" ContentType="application/octet" />
  <Override PartName="/LICENSE" ContentType="application/octet" />
  <Override PartName="/tools/net10.0/${runtime}/rules-compiler" ContentType="application/octet" />
</Types>
`;
}

/**
 * A tool for `dotnet tool install rules-compiler`: a package that names one package per platform, as .NET 10 expects, and these packages
 * with the executable.
 */
export function writeNugetPackages(release: Release): void {
  const runtimes = [...release.executables.keys()].map((target) => RUNTIMES[target]!);
  const packages = runtimes
    .map(
      (one) =>
        `    <RuntimeIdentifierPackage RuntimeIdentifier="${one}" Id="rules-compiler.${one}" />`,
    )
    .join("\n");
  writePackage(release, { id: "rules-compiler", type: "DotnetTool", runtime: "any" }, (tools) =>
    writeFileSync(
      join(tools, "DotnetToolSettings.xml"),
      settings(
        '<Command Name="rules-compiler" />',
        `\n  <RuntimeIdentifierPackages>\n${packages}\n  </RuntimeIdentifierPackages>`,
      ),
    ),
  );
  for (const [target, executable] of release.executables) {
    const runtime = RUNTIMES[target]!;
    const program = programName(target);
    writePackage(
      release,
      { id: `rules-compiler.${runtime}`, type: "DotnetToolRidPackage", runtime },
      (tools) => {
        copyFileSync(executable, join(tools, program));
        chmodSync(join(tools, program), 0o755);
        writeFileSync(
          join(tools, "DotnetToolSettings.xml"),
          settings(`<Command Name="rules-compiler" EntryPoint="${program}" Runner="executable" />`),
        );
      },
    );
  }
}

function settings(command: string, rest = ""): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<DotNetCliTool Version="2">
  <Commands>
    ${command}
  </Commands>${rest}
</DotNetCliTool>
`;
}

interface NugetPackage {
  readonly id: string;
  readonly type: string;
  readonly runtime: string;
}

function writePackage(
  { root, folder, version }: Release,
  { id, type, runtime }: NugetPackage,
  fill: (tools: string) => void,
): void {
  inFolder((made) => {
    const tools = join(made, "tools/net10.0", runtime);
    mkdirSync(tools, { recursive: true });
    mkdirSync(join(made, "_rels"));
    fill(tools);
    copyFileSync(join(root, "LICENSE"), join(made, "LICENSE"));
    writeFileSync(join(made, "[Content_Types].xml"), contentTypes(runtime));
    writeFileSync(
      join(made, "_rels/.rels"),
      `<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/${id}.nuspec" Id="manifest" />
</Relationships>
`,
    );
    writeFileSync(
      join(made, `${id}.nuspec`),
      `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>${id}</id>
    <version>${version}</version>
    <authors>rules-compiler</authors>
    <license type="expression">MIT</license>
    <projectUrl>${HOMEPAGE}</projectUrl>
    <repository type="git" url="${HOMEPAGE}" />
    <description>${DESCRIPTION}</description>
    <packageTypes>
      <packageType name="${type}" />
    </packageTypes>
  </metadata>
</package>
`,
    );
    zip(made, join(folder, `${id}.${version}.nupkg`));
  });
}
