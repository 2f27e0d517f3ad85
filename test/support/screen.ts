import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { textWidth } from "../../src/cli/output/reporter.ts";

const FOLDER = join(import.meta.dirname, "..", "cli", "screens");

/** What is left of a text on a terminal: no colours, and lines that were drawn over are kept. */
export function withoutCodes(text: string): string {
  return text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "");
}

/** Compares a screen with the one that is kept; `UPDATE_SCREENS=1` keeps it anew. No line may be wider than 80 columns. */
export function assertScreen(name: string, text: string): void {
  const shown = withoutCodes(text);
  const file = join(FOLDER, `${name}.txt`);
  if (process.env["UPDATE_SCREENS"] !== undefined) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, shown);
  }
  assert.equal(shown, readFileSync(file, "utf8"));
  for (const line of shown.split("\n")) assert.ok(textWidth(line) <= 80, line);
}
