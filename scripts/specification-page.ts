import { specification } from "../test/specification/registry.ts";
import { type Specified, type SpecifiedSection, titleOf } from "../test/support/specified.ts";

/** Everything that is specified by name, with the test that checks it. */
export function specificationPage(): string {
  return `<!-- Written by scripts/generate.ts from test/specification. -->

# Specification

Names, texts, variables, defaults, paths and commands that the toolset guarantees. Each has a test with its name in
\`test/specification.test.ts\`. The toolset was specified with several entry points (.NET, Python, Rust, PowerShell, a TypeScript runtime);
here one program provides all of them, and the column *met by* says how, where that is not obvious.

${specification.map(sectionText).join("\n\n")}
`;
}

function sectionText(section: SpecifiedSection): string {
  const rows = section.items.map((one) => rowText(section, one));
  return `## ${section.title}

| item | meaning | door | met by | test |
|---|---|---|---|---|
${rows.join("\n")}`;
}

function rowText(section: SpecifiedSection, one: Specified): string {
  const { item, meaning, door = "all", met = "the same", check } = one;
  const held = check === undefined ? "none" : `“${titleOf(section, one)}”`;
  const cells = [
    `\`${item}\``,
    meaning,
    door,
    met,
    held.replaceAll("<", "&lt;").replaceAll("*", "\\*").replaceAll("{", "&#123;"),
  ];
  return `| ${cells.join(" | ")} |`;
}
