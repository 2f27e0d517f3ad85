import process from "node:process";

/** Runs suites of this folder with the files of Windows. */
export async function onWindows(suites: readonly string[]): Promise<void> {
  process.env["MEMORY_HOST"] = "windows";
  for (const suite of suites) await import(`../${suite}.test.ts`);
}
