import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import type { Config } from "../config/lists.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { durationMs, printable, reasonOf } from "../diagnostics/text.ts";
import {
  ifAvailable,
  isText,
  isWhole,
  newToken,
  objectOf,
  oneOf,
  outputFailed,
  PACKED_ENDINGS,
  StateFile,
  temporaryOf,
  writeWhole,
} from "../host/files.ts";
import { type Host, HostError, type Packing } from "../host/host.ts";
import { recordFolder } from "../record/record-file.ts";
import { digestOfFile } from "../sources/copies.ts";
import {
  type MinisignKey,
  readPublicKey,
  readSecretKey,
  signatureFile,
  signatureProblem,
} from "../sources/held-text.ts";
import type { FileSet } from "./file-set.ts";
import {
  type OutputFile,
  checkTemplate,
  fileNamed,
  isSameButDate,
  readStart,
} from "./list-file.ts";
import type { Manifest, SourceReport } from "../documents/facts.ts";

const DEFAULT_EXPIRES = "14d";

export function pathOfManifest(
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

/** The files about a release: those of the keys `notice` and `manifest`, and the signature. */
export function manifestPaths(
  config: ReleaseConfig,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
): string[] {
  const notice = pathOfNotice(config, folder, host);
  const own = notice === undefined ? [] : [notice];
  if (config.manifest === undefined) return own;
  checkTemplate(config.manifest.file, ["{name}", "{slug}"], "manifest.file");
  const path = pathOfManifest(config, folder, host);
  return [...own, path, `${path}.minisig`];
}

type ReleaseConfig = Pick<Config, "name" | "manifest" | "notice">;

/** The path of the file that names the sources with their licences; undefined without the key. */
export function pathOfNotice(
  { name, notice }: Pick<Config, "name" | "notice">,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
): string | undefined {
  if (notice === undefined) return undefined;
  checkTemplate(notice, ["{name}", "{slug}"], "notice");
  return host.path.resolve(host.cwd, folder, fileNamed(notice, { name }));
}

/** The text of that file. Paths of local sources stay private. */
export function noticeText(name: string, sources: readonly NoticedSource[]): string {
  const entries = sources.map(({ label, source, state, licence = "not stated" }) => {
    const url = state === "local" || source === label ? [] : [`  ${source}`];
    return [label, ...url, `  Licence: ${licence}`].map((line) => printable(line, 1000)).join("\n");
  });
  const head = `${printable(name)} is compiled from these sources. Each keeps its own licence.`;
  return `${[head, ...entries].join("\n\n")}\n`;
}

/** What a published list says about a source. */
export type NoticedSource = Pick<SourceReport, "label" | "source" | "state" | "licence">;

/** Those of them that a release has: without a key, there is no signature. */
export function releasePaths(
  config: ReleaseConfig,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
): string[] {
  const paths = manifestPaths(config, folder, host);
  const hasKey = config.manifest?.key_file !== undefined;
  return config.manifest === undefined || hasKey ? paths : paths.slice(0, -1);
}

interface Release {
  /** The path of the manifest. */
  readonly path: string;
  readonly files: readonly string[];
  readonly builtAt: Date;
  readonly key: MinisignKey | undefined;
}

/** Adds the manifest of its files to a set, and the signature if there is a key; otherwise an old one is removed. Rejects with a `CompilerError`. */
export async function writeManifest(
  config: Pick<Config, "name" | "manifest">,
  { path, files, builtAt, key }: Release,
  set: FileSet,
  host: Host,
): Promise<void> {
  const expiresMs = durationMs(config.manifest?.valid_for ?? DEFAULT_EXPIRES) ?? 0;
  const manifest: Manifest = {
    manifest: 1,
    name: config.name,
    version: await nextVersion(path, config.name, builtAt, host),
    built: builtAt.toISOString(),
    expires: new Date(builtAt.getTime() + expiresMs).toISOString(),
    files: await Promise.all(
      files.map(async (file) => ({
        file: nameFrom(path, file, host),
        bytes: await host.sizeOf(set.placeOf(file)),
        sha256: (await set.digestOf(file)) ?? "",
      })),
    ),
  };
  const bytes = encodeUtf8(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const comment = `version:${manifest.version}\texpires:${manifest.expires}`;
  const signature = key && signatureFile(bytes, key, comment);
  const signed = `${path}.minisig`;
  try {
    await set.write(path, (file) => file.write(bytes));
    if (signature === undefined) await set.remove(signed);
    else await set.write(signed, (file) => file.write(encodeUtf8(signature)));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

/** Whether a release of unchanged files needs another manifest: it has other files, or less than half of its time is left. */
export async function isManifestDue(
  { name, manifest }: Pick<Config, "name" | "manifest">,
  path: string,
  files: readonly OutputFile[],
  host: Host,
): Promise<boolean> {
  const bytes = await ifAvailable(() => host.readFile(path));
  const last = bytes === undefined ? undefined : parseManifest(decodeUtf8(bytes), host);
  if (last?.name !== name) return true;
  const half = (durationMs(manifest?.valid_for ?? DEFAULT_EXPIRES) ?? 0) / 2;
  if (Date.parse(last.expires) - host.now().getTime() < half) return true;
  const names = new Set(files.map((file) => nameFrom(path, file.path, host)));
  return names.size !== last.files.length || last.files.some(({ file }) => !names.has(file));
}

/** Whether files differ from those of the manifest at a path. */
export async function hasOtherFiles(
  path: string,
  files: readonly OutputFile[],
  host: Host,
): Promise<boolean> {
  const bytes = await ifAvailable(() => host.readFile(path));
  const last = bytes === undefined ? undefined : parseManifest(decodeUtf8(bytes), host);
  const known = new Map(last?.files.map(({ file, sha256 }) => [file, sha256]));
  for (const { path: file } of files)
    if (known.get(nameFrom(path, file, host)) !== (await digestOfFile(file, host))) return true;
  return false;
}

/** The name of a file in a manifest. */
function nameFrom(manifest: string, file: string, { path }: Pick<Host, "path">): string {
  return path.relative(path.dirname(manifest), file).replaceAll(path.sep, "/");
}

/** Two releases may be built within a second, and a clock may be set back. */
async function nextVersion(path: string, name: string, at: Date, host: Host): Promise<number> {
  const now = Math.floor(at.getTime() / 1000);
  const bytes = await ifAvailable(() => host.readFile(path));
  const last = bytes === undefined ? undefined : parseManifest(decodeUtf8(bytes), host);
  const isKnown = last?.name === name && Number.isSafeInteger(last.version + 1);
  return isKnown ? Math.max(now, last.version + 1) : now;
}

/** The signing key, if one is configured. Rejects with a `CompilerError` if it is invalid. */
export async function manifestKey(
  { manifest }: Pick<Config, "manifest">,
  configFolder: string,
  host: Host,
): Promise<MinisignKey | undefined> {
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

/** Finds the problems of a release. Without a public key, it checks the files but not the signature. */
export async function verifyManifest(
  path: string,
  key: string | undefined,
  host: Host,
): Promise<{ manifest: Manifest | undefined; problems: Diagnostic[] }> {
  const bytes = await ifAvailable(() => host.readFile(path));
  const manifest = bytes === undefined ? undefined : parseManifest(decodeUtf8(bytes), host);
  if (bytes === undefined || manifest === undefined)
    return { manifest: undefined, problems: [mismatch(`${printable(path)} is not a manifest`)] };
  const problems: Diagnostic[] = [];
  if (key !== undefined) {
    const publicKey = readPublicKey(key);
    const signature = await ifAvailable(() => host.readFile(`${path}.minisig`));
    if (publicKey === undefined) problems.push(mismatch("The key is not a minisign public key"));
    else if (signature === undefined)
      problems.push(mismatch(`${printable(host.path.basename(path))}.minisig is missing`));
    else if (signatureProblem([bytes], decodeUtf8(signature), [publicKey]) !== undefined)
      problems.push(mismatch(`${printable(host.path.basename(path))} is not signed with this key`));
  }
  if (manifest.files.length === 0) problems.push(mismatch("The manifest lists no files"));
  if (Date.parse(manifest.expires) < host.now().getTime())
    problems.push(mismatch(`The manifest expired at ${printable(manifest.expires, 40)}`));
  for (const { file, sha256 } of manifest.files) {
    const digest = await ifAvailable(() =>
      digestOfFile(host.path.join(host.path.dirname(path), file), host),
    );
    if (digest === undefined) problems.push(mismatch(`${printable(file)} is missing`));
    else if (digest !== sha256)
      problems.push(mismatch(`${printable(file)} does not match the manifest`));
  }
  return { manifest, problems };
}

function mismatch(message: string): Diagnostic {
  return errorOf("manifest-mismatch", message);
}

function parseManifest(text: string, host: Host): Manifest | undefined {
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

/** The first bytes of compressed files. */
const MAGIC: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
};

const NO_HEADER: Uint8Array = new Uint8Array(0);

function packedName(path: string, packing: Packing): string {
  return `${path}.${PACKED_ENDINGS[packing]}`;
}

/** The files, followed by their compressed copies. */
export function withPacked(
  files: readonly OutputFile[],
  packings: readonly Packing[],
): OutputFile[] {
  const packed = files.flatMap(({ name, path }) =>
    packings.map((one) => ({ name: packedName(name, one), path: packedName(path, one) })),
  );
  return [...files, ...packed];
}

/** The compressed files of an output. A note lists them, so that later runs can remove those that are no longer configured. */
export class PackedFiles {
  private readonly note: string;
  private readonly host: Host;

  /** `first` is the path of the output, which is its first part. */
  constructor(first: string, host: Host) {
    this.note = host.path.join(recordFolder(first, host), `${host.path.basename(first)}.packed`);
    this.host = host;
  }

  /** Hands the files to a set. `taken` are the files of all outputs, which are never removed. Rejects with a `HostError`. */
  async stage(
    paths: readonly string[],
    packings: readonly Packing[],
    taken: ReadonlySet<string>,
    set: FileSet,
  ): Promise<void> {
    const before = await this.readNote();
    for (const path of paths) for (const packing of packings) await this.pack(path, packing, set);
    for (const packing of before.filter((one) => !packings.includes(one)))
      for (const path of paths)
        await this.removeOld(packedName(path, packing), packing, taken, set);
    // If this run is killed, the next one looks for all that there may be.
    await this.writeNote(before, [...new Set([...before, ...packings])]);
  }

  /** Notes which files there are. Call it when the set is published. */
  async settle(packings: readonly Packing[]): Promise<void> {
    await this.writeNote(await this.readNote(), packings);
  }

  private async readNote(): Promise<Packing[]> {
    const bytes = await ifAvailable(() => this.host.readFile(this.note));
    const words = bytes === undefined ? [] : decodeUtf8(bytes).split(" ");
    return words.filter((word): word is Packing => Object.hasOwn(MAGIC, word));
  }

  private async writeNote(before: readonly Packing[], now: readonly Packing[]): Promise<void> {
    if (before.join(" ") === now.join(" ")) return;
    await writeWhole(this.note, this.host, (file) => file.write(encodeUtf8(now.join(" "))));
  }

  private async pack(path: string, packing: Packing, set: FileSet): Promise<void> {
    const { host } = this;
    const packed = packedName(path, packing);
    const token = newToken();
    const temporary = temporaryOf(packed, token, host);
    const work = host.packFile?.(set.placeOf(path), temporary, packing);
    if (work === undefined)
      throw new HostError("ENOSYS", `this runtime does not support ${packing}`);
    try {
      await work;
      if (!(await isSameButDate([packed, temporary], NO_HEADER, host)))
        return set.stage(packed, token);
    } catch (error) {
      await host.removeFile(temporary).catch(() => {});
      throw error;
    }
    await host.removeFile(temporary).catch(() => {});
  }

  /** Checks the contents first: another program may have created a different file with this name. */
  private async removeOld(
    path: string,
    packing: Packing,
    taken: ReadonlySet<string>,
    set: FileSet,
  ): Promise<void> {
    const { host } = this;
    if (taken.has(path) || (await host.kindOf(path)) !== "file") return;
    const magic = MAGIC[packing]!;
    const start = await readStart(path, magic.length, host);
    if (start !== undefined && magic.every((byte, at) => start[at] === byte))
      await set.remove(path);
  }
}

/** The newest verified release of a list. */
interface ReleaseState {
  readonly state: 1;
  readonly name: string;
  readonly version: number;
  /** Digest of the manifest. */
  readonly sha256: string;
}

/** Why a release must not follow the last verified one; empty if it may, or if no release was verified. */
export async function releaseStateProblems(
  path: string,
  manifestPath: string,
  { name, version }: Manifest,
  host: Host,
): Promise<Diagnostic[]> {
  const last = await new StateFile(path, isState, host, Infinity).look();
  if (last === "missing") return [];
  if (last === "damaged")
    return [mismatch(`${printable(path)} is not a state file written by verify`)];
  if (name !== last.name)
    return [
      mismatch(`The release is of ${printable(name, 80)}, not of ${printable(last.name, 80)}`),
    ];
  if (version < last.version)
    return [
      mismatch(
        `Version ${version} is older than version ${last.version}, which was verified before`,
      ),
    ];
  const isOther =
    version === last.version && (await digestOfFile(manifestPath, host)) !== last.sha256;
  return isOther
    ? [mismatch(`The release differs from the one of version ${version} that was verified before`)]
    : [];
}

/** Saves a verified release. Rejects with a `CompilerError`. */
export async function writeReleaseState(
  path: string,
  manifestPath: string,
  { name, version }: Manifest,
  host: Host,
): Promise<void> {
  const sha256 = (await digestOfFile(manifestPath, host)) ?? "";
  try {
    await new StateFile(path, isState, host, Infinity).write({ state: 1, name, version, sha256 });
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

const isState = objectOf<ReleaseState>({
  state: oneOf([1]),
  name: isText,
  version: isWhole,
  sha256: isText,
});
