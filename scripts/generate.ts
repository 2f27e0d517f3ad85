/**
 * Writes everything that is derived from the code: reference pages, the JSON Schema, the suffix list, benchmark figures.
 * `--check` writes nothing and fails if a file is out of date.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { withComparison } from "./comparison.ts";
import { compatibilityPage } from "./compatibility-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { formatsPage } from "./formats-page.ts";
import { hasInlineFigures, withFigures, withHeadline, withInlineFigures } from "./figures.ts";
import { documentsPage, documentsSchema } from "./documents-schema.ts";
import { kernelModule } from "./kernel-module.ts";
import { denoFile } from "./deno-file.ts";
import { jsonSchema } from "./json-schema.ts";
import { manPage } from "./man-page.ts";
import {
  NOTICE,
  commandLinePage,
  errorsPage,
  fatesPage,
  transformationsPage,
} from "./reference-pages.ts";
import { pageScriptModule } from "./page-script.ts";
import { withScreens } from "./readme-screens.ts";
import { withReliability } from "./reliability.ts";
import { specificationPage } from "./specification-page.ts";
import { suffixListModule } from "./suffix-list.ts";
import { transformationNameModule } from "./transformation-name.ts";
import { versionModule } from "./version-module.ts";

const files: Record<string, () => string | Promise<string>> = {
  "src/syntax/public-suffix-list.ts": suffixListModule,
  "src/diagnostics/version.ts": versionModule,
  "src/config/transformation-name.ts": transformationNameModule,
  "src/kernel/kernel-wasm.ts": kernelModule,
  "src/report/page-script.ts": pageScriptModule,
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
  "docs/guide/evidence.md": () =>
    [withHeadline, withComparison, withFigures, withInlineFigures, withReliability].reduce(
      (page, change) => change(page),
      readOrEmpty("docs/guide/evidence.md"),
    ),
  "docs/index.md": () => withHeadline(readOrEmpty("docs/index.md")),
  "README.md": () => withHeadline(readOrEmpty("README.md")),
  "docs/guide/questions.md": () => withScreens(readOrEmpty("docs/guide/questions.md")),
};

for (const folder of ["docs/guide", "docs/resolvers"])
  for (const file of readdirSync(folder)) {
    const path = join(folder, file);
    if (!(path in files) && hasInlineFigures(readOrEmpty(path)))
      files[path] = () => withInlineFigures(readOrEmpty(path));
  }

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
