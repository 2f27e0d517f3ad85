/**
 * Writes everything that is derived from the code: reference pages, the JSON Schema, the suffix list, benchmark figures.
 * `--check` writes nothing and fails if a file is out of date.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { comparisonPage, withComparison } from "./comparison.ts";
import { compatibilityPage } from "./compatibility-page.ts";
import { figuresPage, withHeadline } from "./figures.ts";
import { documentsPage, documentsSchema } from "./documents-schema.ts";
import { kernelModule } from "./kernel-module.ts";
import { denoFile } from "./deno-file.ts";
import { jsonSchema } from "./json-schema.ts";
import { manPage } from "./man-page.ts";
import {
  NOTICE,
  commandLinePage,
  configurationPage,
  errorsPage,
  fatesPage,
  formatsPage,
  transformationsPage,
} from "./reference-pages.ts";
import { withScreens } from "./readme-screens.ts";
import { reliabilityPage } from "./reliability-page.ts";
import { specificationPage } from "./specification-page.ts";
import { sessionPicture } from "./session-picture.ts";
import { suffixListModule } from "./suffix-list.ts";
import { transformationNameModule } from "./transformation-name.ts";
import { versionModule } from "./version-module.ts";

const files: Readonly<Record<string, () => string | Promise<string>>> = {
  "src/syntax/public-suffix-list.ts": suffixListModule,
  "src/diagnostics/version.ts": versionModule,
  "src/config/transformation-name.ts": transformationNameModule,
  "src/kernel/kernel-wasm.ts": kernelModule,
  "schema.json": jsonSchema,
  "documents.schema.json": documentsSchema,
  "deno.json": denoFile,
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/formats.md": formatsPage,
  "docs/reference/transformations.md": transformationsPage,
  "docs/reference/fates.md": fatesPage,
  "docs/reference/errors.md": errorsPage,
  "docs/reference/command-line.md": commandLinePage,
  "docs/reference/documents.md": () => documentsPage(NOTICE),
  "docs/reference/compatibility.md": compatibilityPage,
  "docs/reference/specification.md": specificationPage,
  "docs/rules-compiler.1": manPage,
  "docs/guide/large-lists.md": figuresPage,
  "docs/scale.md": () => withHeadline("docs/scale.md"),
  "docs/pictures/session.svg": sessionPicture,
  "docs/guide/comparison.md": comparisonPage,
  "docs/index.md": () => withComparison(withHeadline("docs/index.md")),
  "README.md": () => withComparison(withHeadline("README.md")),
  "docs/guide/why.md": () => withScreens(readOrEmpty("docs/guide/why.md")),
  "docs/guide/reliability.md": reliabilityPage,
};

const isCheck = process.argv.includes("--check");
for (const [path, make] of Object.entries(files)) {
  const text = await make();
  if (readOrEmpty(path) === text) continue;
  if (isCheck) {
    process.stderr.write(`${path} is out of date; run: npm run generate\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
