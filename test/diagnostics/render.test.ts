import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf, renderDiagnostic } from "../../src/diagnostics/render.ts";
import {
  maskCredentials,
  nearest,
  printable,
  withoutCredentials,
} from "../../src/diagnostics/text.ts";

test("a rendered problem shows what happened, where, why and what to do", () => {
  const text = renderDiagnostic(
    errorOf("unknown-transformation", "Unknown transformation: compress", {
      at: { file: "c.json", line: 12, column: 5, frame: '    "compress"' },
      cause: "because",
      hint: "try this",
    }),
  );
  assert.equal(
    text,
    `error[unknown-transformation]: Unknown transformation: compress
  --> c.json:12:5
     |
  12 |     "compress"
     |     ^
  = because: because
  = hint: try this
`,
  );
});

test("external text cannot control a terminal", () => {
  assert.equal(printable("a\u001b[31mb\u202ec\n"), "a\\u{1b}[31mb\\u{202e}c\\u{a}");
  assert.equal(printable("x".repeat(300)).length, 201);
});

test("passwords in URLs are removed, or masked where columns matter", () => {
  assert.equal(withoutCredentials("https://u:p@h/x@y"), "https://h/x@y");
  assert.equal(withoutCredentials("https://h/x@y"), "https://h/x@y");
  assert.equal(maskCredentials('"https://u:p@h/"'), '"https://***@h/"');
});

test("suggestions name the nearest word, and nothing if all words are far", () => {
  assert.equal(nearest("compress", ["Compress", "Validate"]), "Compress");
  assert.equal(nearest("transformatons", ["name", "transformations"]), "transformations");
  assert.equal(nearest("complie", ["compile", "validate"]), "compile");
  assert.equal(nearest("zzz", ["name", "type"]), undefined);
});
