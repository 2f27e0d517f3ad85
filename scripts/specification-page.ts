import { type Door, checkDoors, doors } from "../test/specification/doors.ts";
import { specification } from "../test/specification/registry.ts";
import { type Specified, type SpecifiedSection, titleOf } from "../test/support/specified.ts";

/** Everything that is specified by name, with the test that checks it. */
export function specificationPage(): string {
  checkDoors();
  return `<!-- Written by scripts/generate.ts from test/specification. -->

# Specification

Names, texts, variables, defaults, paths and commands that the toolset guarantees. The toolset was specified with several entry points (.NET, Python,
Rust, PowerShell, a TypeScript runtime); here one program provides all of them.

## Doors

| door | promised | what you get | how to run it | provided by | run by |
|---|---|---|---|---|---|
${doors.map(doorText).join("\n")}

Most items below have a test with their name in \`test/specification/specification.long.test.ts\`. The test of a door holds what belongs to the door; *not run* means that
nothing here can run it. The column *met by* says how an item is met, where that is not obvious.

${specification.map(sectionText).join("\n\n")}
`;
}

function doorText({ door, promised, get, run, file, test }: Door): string {
  const held = test === undefined ? "not run: its program is not in Debian or npm" : `\`${test}\``;
  return `| ${[door, promised, get, run, `\`${file}\``, held].join(" | ")} |`;
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
  const test = doors.find((each) => each.door === one.door)?.test;
  const byDoor = test === undefined ? "not run" : `\`${test}\``;
  const held = check === undefined ? byDoor : `“${titleOf(section, one)}”`;
  const cells = [
    `\`${item}\``,
    meaning,
    door,
    met,
    held.replaceAll("<", "&lt;").replaceAll("*", "\\*").replaceAll("{", "&#123;"),
  ];
  return `| ${cells.join(" | ")} |`;
}
