import type { Specified, SpecifiedSection } from "../support/specified.ts";

function oldest(item: string, door: string, met: string): Specified {
  return { item, meaning: `Oldest version for ${door}.`, door, met };
}

export const versions: SpecifiedSection = {
  title: "Version",
  items: [
    oldest(
      "2.0 or newer",
      "TypeScript runtime",
      "Deno 2.0, on which the tests run the task; also Node and Bun",
    ),
    oldest(".NET 10 (net10.0)", ".NET", "the target framework of the tool"),
    oldest("3.9", "Python", "the wheel needs it, and says so on older ones"),
    oldest("1.70", "Rust", "`rust-version` of the crate"),
    oldest("7", "PowerShell", "`PowerShellVersion` of the module"),
  ],
};
