import { type Door, checkDoors, doors } from "../test/specification/doors.ts";
import { specification } from "../test/specification/registry.ts";
import type { Specified, SpecifiedSection } from "../test/support/specified.ts";

/** Everything that is specified by name, with the test that checks it. */
export function specificationPage(): string {
  checkDoors();
  return `<!-- Written by scripts/generate.ts from test/specification. -->

# Specification

Names, texts, variables, defaults, paths and commands that the toolset guarantees. The toolset was specified with several entry points (.NET, Python,
Rust, PowerShell, a TypeScript runtime); here one program provides all of them.

## Doors

${doors.map(doorText).join("\n\n")}

## Items

An item is met as it is, through every door, and has a test with its name in \`test/specification/specification.long.test.ts\`, unless it says otherwise. The test of a door
holds what belongs to the door; *not run* means that nothing here can run it.

${specification.map(sectionText).join("\n\n")}
`;
}

function doorText({ door, promised, get, run, file, test }: Door): string {
  const held = test === undefined ? "not run: its program is not in Debian or npm" : `\`${test}\``;
  return `### ${door}

- Promised: ${promised}
- What you get: ${get}
- How to run it: ${run}
- Provided by: \`${file}\`
- Test: ${held}`;
}

function sectionText(section: SpecifiedSection): string {
  return `### ${section.title}\n\n${section.items.map(itemText).join("\n")}`;
}

function itemText(one: Specified): string {
  const { item, meaning, door, met, check } = one;
  const test = doors.find((each) => each.door === one.door)?.test;
  const facts = [
    ...(door === undefined ? [] : [`Door: ${door}.`]),
    ...(met === undefined ? [] : [`Met by: ${met}.`]),
    ...(check === undefined ? [test === undefined ? "Not run." : `Test: \`${test}\`.`] : []),
  ];
  return `- \`${item}\`: ${[meaning, ...facts].join(" ")}`;
}
