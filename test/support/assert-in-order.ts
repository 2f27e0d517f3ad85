import assert from "node:assert/strict";

/** Asserts that a text contains the parts, one after the other. */
export function assertInOrder(text: string, parts: readonly string[]): void {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    assert.ok(at !== -1, `"${part}" after ${from} in: ${text}`);
    from = at;
  }
}
