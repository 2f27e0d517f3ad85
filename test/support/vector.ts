import { readFileSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { Buffer } from "node:buffer";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Config, CompilerError, type Diagnostic, compile, nodeHost } from "./internals.ts";
import { checkAccount } from "./account.ts";
import { type Routes, serve } from "./web-server.ts";

type Content = string | readonly string[] | { readonly base64: string };

/** One recorded behaviour of the reference compiler; `{{…}}` stand for what varies between runs. */
export interface Vector {
  readonly name: string;
  readonly advice: "match" | "deviate";
  /** Which deviation makes our result differ. */
  readonly oddity?: string;
  readonly config: Config;
  readonly files?: Readonly<Record<string, Content>>;
  readonly http?: Routes;
  readonly expectedLines?: readonly string[];
  readonly expectedError?: string;
}

/** What our compiler makes of a vector. */
export interface Outcome {
  readonly lines?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
  readonly warnings?: readonly string[];
}

const FOLDER = join(import.meta.dirname, "../conformance");

export function readVectors(folder: string = FOLDER): Vector[] {
  const files = readdirSync(join(folder, "vectors")).toSorted();
  return files.map(
    (file) => JSON.parse(readFileSync(join(folder, "vectors", file), "utf8")) as Vector,
  );
}

/** Our own results where they are not the reference's: for deviations, and the text of errors. */
export function readOwnOutcomes(): Record<string, Outcome> {
  return JSON.parse(readFileSync(join(FOLDER, "own-outcomes.json"), "utf8")) as Record<
    string,
    Outcome
  >;
}

export function bytesOf(content: Content): Uint8Array {
  if (typeof content === "string") return new TextEncoder().encode(content);
  if ("base64" in content) return Buffer.from(content.base64, "base64");
  return new TextEncoder().encode(content.join("\n"));
}

/** Runs a vector for real: files on the disk, a server on the loopback. */
export async function runVector(vector: Vector): Promise<Outcome> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vector-")));
  for (const [name, content] of Object.entries(vector.files ?? {})) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytesOf(content));
  }
  const server = vector.http === undefined ? undefined : await serve(vector.http);
  const base = server?.base ?? "\0";
  const config = JSON.parse(JSON.stringify(vector.config).replaceAll("{{BASE}}", base)) as Config;
  const plain = (text: string): string =>
    text.replaceAll(base, "{{BASE}}").replaceAll(folder, "{{DIR}}");
  try {
    const result = await compile(config, { host: { ...nodeHost(), cwd: folder }, compat: true });
    checkAccount(result);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(result.bytes);
    const lines = plain(text)
      .replace(/^! Last modified: .*$/m, "! Last modified: {{TIME}}")
      .replace(/^! Compiled by .* v[0-9.]+$/m, "! Compiled by {{COMPILER}}")
      .split("\n");
    const warnings = noteworthy(result.diagnostics).map((message) => plain(message));
    return warnings.length === 0 ? { lines } : { lines, warnings };
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    const first = error.diagnostics.find(({ severity }) => severity === "error")!;
    return { error: { code: first.code, message: plain(first.message) } };
  } finally {
    await server?.close();
    await rm(folder, { recursive: true });
  }
}

function noteworthy(diagnostics: readonly Diagnostic[]): string[] {
  return (
    diagnostics
      // Nothing that the reference reports.
      .filter(({ code }) => code !== "source-incomplete" && code !== "homepage-not-url")
      .map(({ message }) => message)
  );
}
