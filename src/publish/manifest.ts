import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { durationMs } from "../config/duration.ts";
import type { Config } from "../config/fields.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { digestOfFile } from "../sources/source-store.ts";
import {
  type SecretKey,
  isSigned,
  readPublicKey,
  readSecretKey,
  signatureFile,
} from "./minisign.ts";
import { fileNamed } from "./file-template.ts";
import { outputFailed } from "./output-failed.ts";

/** What a release consists of, for those who fetch it from anywhere. */
export interface Manifest {
  readonly manifest: 1;
  readonly name: string;
  /** Seconds since 1970, or one more than the last release where the clock says less: larger in each release. */
  readonly version: number;
  readonly built: string;
  readonly expires: string;
  readonly files: readonly {
    /** From where the manifest is. */
    readonly file: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
}

const DEFAULT_EXPIRES = "14d";

export function manifestPath(
  { name, manifest }: Pick<Config, "name" | "manifest">,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
): string {
  return host.path.resolve(
    host.cwd,
    folder,
    fileNamed(manifest?.file ?? "manifest.json", { name }),
  );
}

/** What a manifest takes, if there is to be one. */
export function manifestPaths(
  config: Pick<Config, "name" | "manifest">,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
): string[] {
  if (config.manifest === undefined) return [];
  const path = manifestPath(config, folder, host);
  return [path, `${path}.minisig`];
}

/** Writes the manifest of files that are published, and its signature if there is a key. Rejects with a `CompilerError`. */
export async function writeManifest(
  config: Pick<Config, "name" | "manifest">,
  path: string,
  paths: readonly string[],
  builtAt: Date,
  key: SecretKey | undefined,
  host: Host,
): Promise<void> {
  const expiresMs = durationMs(config.manifest?.expires ?? DEFAULT_EXPIRES) ?? 0;
  const manifest: Manifest = {
    manifest: 1,
    name: config.name,
    version: await nextVersion(path, config.name, builtAt, host),
    built: builtAt.toISOString(),
    expires: new Date(builtAt.getTime() + expiresMs).toISOString(),
    files: await Promise.all(
      paths.map(async (file) => ({
        file: host.path.relative(host.path.dirname(path), file).replaceAll(host.path.sep, "/"),
        bytes: await host.sizeOf(file),
        sha256: (await digestOfFile(file, host)) ?? "",
      })),
    ),
  };
  const bytes = encodeUtf8(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const comment = `version:${manifest.version}\texpires:${manifest.expires}`;
  const signature = key && signatureFile(bytes, key, comment);
  try {
    await writeWhole(path, host, (file) => file.write(bytes));
    if (signature !== undefined)
      await writeWhole(`${path}.minisig`, host, (file) => file.write(encodeUtf8(signature)));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

/** Two releases may be made in one second, and a clock may be set back. */
async function nextVersion(path: string, name: string, at: Date, host: Host): Promise<number> {
  const now = Math.floor(at.getTime() / 1000);
  const bytes = await read(path, host);
  const last = bytes === undefined ? undefined : parsed(decodeUtf8(bytes), host);
  const isKnown = last?.name === name && Number.isSafeInteger(last.version + 1);
  return isKnown ? Math.max(now, last.version + 1) : now;
}

/** The key to sign with, if one is configured. Rejects with a `CompilerError` when it is none. */
export async function manifestKey(
  { manifest }: Pick<Config, "manifest">,
  configFolder: string,
  host: Host,
): Promise<SecretKey | undefined> {
  if (manifest?.key_file === undefined) return undefined;
  const path = host.path.resolve(configFolder, manifest.key_file);
  const text = await host.readFile(path).catch((error: unknown) => {
    if (!(error instanceof HostError)) throw error;
    throw badKey(`Cannot read ${printable(path)}`, reasonOf(error.code, error.message));
  });
  const key = readSecretKey(decodeUtf8(text));
  if (typeof key === "string") throw badKey(`Cannot sign with ${printable(path)}`, key);
  return key;
}

function badKey(message: string, cause: string): CompilerError {
  return new CompilerError([errorOf("bad-key", message, { cause })]);
}

/** What is wrong with a release; nothing when it is as it was made. `key` is a public key, or nothing to look at the files only. */
export async function verifyManifest(
  path: string,
  key: string | undefined,
  host: Host,
): Promise<{ manifest: Manifest | undefined; problems: Diagnostic[] }> {
  const bytes = await read(path, host);
  const manifest = bytes === undefined ? undefined : parsed(decodeUtf8(bytes), host);
  if (bytes === undefined || manifest === undefined)
    return { manifest: undefined, problems: [bad(`${printable(path)} is no manifest`)] };
  const problems: Diagnostic[] = [];
  if (key !== undefined) {
    const publicKey = readPublicKey(key);
    const signature = await read(`${path}.minisig`, host);
    if (publicKey === undefined) problems.push(bad("The key is no minisign public key"));
    else if (signature === undefined)
      problems.push(bad(`There is no ${printable(host.path.basename(path))}.minisig`));
    else if (!isSigned(bytes, decodeUtf8(signature), publicKey))
      problems.push(bad(`${printable(host.path.basename(path))} is not signed by this key`));
  }
  if (manifest.files.length === 0) problems.push(bad("It names no files"));
  if (Date.parse(manifest.expires) < host.now().getTime())
    problems.push(bad(`It expired at ${printable(manifest.expires, 40)}`));
  for (const { file, sha256 } of manifest.files) {
    const there = await digestOfFile(host.path.join(host.path.dirname(path), file), host).catch(
      (error: unknown) => {
        if (error instanceof HostError) return undefined;
        throw error;
      },
    );
    if (there === undefined) problems.push(bad(`${printable(file)} is not there`));
    else if (there !== sha256)
      problems.push(bad(`${printable(file)} is not what the manifest says`));
  }
  return { manifest, problems };
}

function bad(message: string): Diagnostic {
  return errorOf("manifest-mismatch", message);
}

async function read(path: string, host: Host): Promise<Uint8Array | undefined> {
  try {
    return await host.readFile(path);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

function parsed(text: string, host: Host): Manifest | undefined {
  try {
    const value = JSON.parse(text) as Partial<Manifest> | null;
    const isManifest =
      value?.manifest === 1 &&
      typeof value.name === "string" &&
      Number.isSafeInteger(value.version) &&
      Array.isArray(value.files) &&
      value.files.every(
        (one) =>
          typeof one?.file === "string" &&
          typeof one.sha256 === "string" &&
          !host.path.isAbsolute(one.file),
      ) &&
      !Number.isNaN(Date.parse(value.expires ?? ""));
    return isManifest ? (value as Manifest) : undefined;
  } catch {
    return undefined;
  }
}
