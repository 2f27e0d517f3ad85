import type { TargetConfig } from "../config/config.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host, OpenFile } from "../host/host.ts";
import { Secret } from "../host/secret.ts";
import { StateFile } from "../host/state-file.ts";
import { digestOf, digestOfFile } from "../sources/source-store.ts";
import { contentType } from "./content-type.ts";
import type { FolderFile } from "./folder-files.ts";
import { isTexts } from "./publish-state.ts";
import { S3Client, type StoreResponse } from "./s3-client.ts";
import type { StoreKeys } from "./sign-request.ts";
import type { PublishedFolder, Target, TargetEnd, TargetSetting } from "./target.ts";
import { TargetFailure } from "./target-failure.ts";

type BucketConfig = NonNullable<TargetConfig["s3"]>;

/** Names of the objects that runs have sent, and may delete. */
interface SentState {
  readonly version: 1;
  readonly names: readonly string[];
}

const DEFAULT_CACHE = "no-cache";
/** How many files are compared and sent at the same time. */
const AT_ONCE = 6;
const BLOCK = 256 * 1024;

/** A folder of a bucket. */
export const s3Bucket: Target = {
  titleOf: ({ s3 }) =>
    `s3://${[s3!.bucket, s3!.prefix?.replace(/\/$/, "")].filter(Boolean).join("/")}`,
  async publish({ s3: config }, folder, setting) {
    const client = new S3Client(config!, keysOf(setting.host), setting);
    return await new BucketPublish(config!, folder, setting, client).run();
  },
};

/** The keys of the environment. Throws a `TargetFailure` that repeats none. */
function keysOf({ env }: Host): StoreKeys {
  const read = (name: string): string | undefined => {
    const value = env[name];
    if (value === undefined || value === "") return undefined;
    if (/^[\x21-\x7e]+$/.test(value)) return value;
    throw new TargetFailure(`${name} contains a blank or a control character`, `Set ${name} again`);
  };
  const need = (name: string): string => {
    const value = read(name);
    if (value !== undefined) return value;
    throw new TargetFailure(
      `${name} is not set`,
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment of this run",
    );
  };
  const id = need("AWS_ACCESS_KEY_ID");
  const secret = new Secret(need("AWS_SECRET_ACCESS_KEY"));
  const token = read("AWS_SESSION_TOKEN");
  return { id, secret, ...(token !== undefined && { token: new Secret(token) }) };
}

/** What the bucket has of a file. */
interface Remote {
  readonly isSame: boolean;
  readonly etag?: string | undefined;
  /** Whether the bucket surely has no such file. */
  readonly isMissing: boolean;
}

/** One publish. */
class BucketPublish {
  private readonly config: BucketConfig;
  private readonly folder: PublishedFolder;
  private readonly setting: TargetSetting;
  private readonly client: S3Client;
  private sent = 0;
  private bytes = 0;

  constructor(
    config: BucketConfig,
    folder: PublishedFolder,
    setting: TargetSetting,
    client: S3Client,
  ) {
    this.config = config;
    this.folder = folder;
    this.setting = setting;
    this.client = client;
  }

  async run(): Promise<TargetEnd> {
    const { files } = this.folder;
    const names = files.map(({ name }) => name);
    const state = await this.state();
    const before = (await state.read())?.names ?? [];
    // Before anything is sent: what a killed run sent is deleted by a later one.
    const all = [...new Set([...before, ...names])].toSorted();
    if (all.length > before.length) await state.tryReplace({ version: 1, names: all });
    const manifests = files.filter(({ isManifest }) => isManifest).toReversed();
    // Read before anything is sent, so that the conditions of the last request notice another publisher.
    const remotes = await Promise.all(manifests.map((file) => this.look(file)));
    await this.sendAll(files.filter(({ isManifest }) => !isManifest));
    // The signature, then the manifest: from here on, clients look for the new files.
    for (const [index, file] of manifests.entries()) await this.put(file, remotes[index]!);
    // A list that is not whole here may be whole in the bucket.
    const old = this.folder.isWhole ? before.filter((name) => !names.includes(name)) : [];
    for (const name of old) await this.remove(name);
    if (old.length > 0) await state.tryReplace({ version: 1, names });
    const { sent, bytes } = this;
    const outcome = sent + old.length > 0 ? "published" : "unchanged";
    return { outcome, files: files.length, sent, removed: old.length, bytes };
  }

  private async state(): Promise<StateFile<SentState>> {
    const { host, stateFolder } = this.setting;
    const { endpoint, bucket, prefix = "" } = this.config;
    const key = await digestOf([endpoint, bucket, prefix.replace(/\/$/, "")].join("\n"));
    const path = host.path.join(stateFolder, `publish-${key.slice(0, 16)}.json`);
    return new StateFile(path, isSentState, host);
  }

  /** Sends the files that differ, several at a time. After a failure, no other is begun. */
  private async sendAll(files: readonly FolderFile[]): Promise<void> {
    const left = files[Symbol.iterator]();
    let failure: unknown;
    const work = async (): Promise<void> => {
      for (const file of left) {
        if (failure !== undefined) return;
        try {
          await this.put(file, await this.look(file));
        } catch (error) {
          failure ??= error;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (failure !== undefined) throw failure;
  }

  private headersOf(name: string): Record<string, string> {
    return {
      "content-type": contentType(name),
      "cache-control": this.config.cache_control ?? DEFAULT_CACHE,
    };
  }

  /** Compares a file with what the bucket has. */
  private async look(file: FolderFile): Promise<Remote> {
    const response = await this.client.send({ method: "HEAD", name: file.name });
    const { status, headers } = response;
    if (status === 404) return { isSame: false, isMissing: true };
    // Without permission to list, AWS answers 403 for what does not exist.
    if (status !== 200 && status !== 403) throw refusal(`HEAD ${file.name}`, response);
    if (status === 403) return { isSame: false, isMissing: false };
    const own = { ...this.headersOf(file.name), "x-amz-meta-sha256": await this.digest(file) };
    const isSame = Object.entries(own).every(([name, value]) => headers[name] === value);
    return { isSame, etag: headers["etag"], isMissing: false };
  }

  private async put(file: FolderFile, remote: Remote): Promise<void> {
    if (remote.isSame) return;
    const { name, path, bytes } = file;
    const sha256 = await this.digest(file);
    const { host } = this.setting;
    const condition = file.isManifest ? conditionOf(remote) : {};
    const send = (more: Readonly<Record<string, string>>): Promise<StoreResponse> =>
      this.client.send({
        method: "PUT",
        name,
        sha256,
        headers: {
          ...this.headersOf(name),
          "content-length": String(bytes),
          "x-amz-meta-sha256": sha256,
          ...more,
        },
        body: () => blocksOf(path, host),
      });
    let response = await send(condition);
    // A store that knows no conditions.
    if (response.status === 501) response = await send({});
    const { status, isRepeated } = response;
    const isRejected = status === 412 || status === 409;
    // The first request may have arrived, although its answer did not.
    const isOurs = isRejected && isRepeated && (await this.look(file)).isSame;
    if (isRejected && !isOurs)
      throw new TargetFailure(
        `another client replaced ${printable(name)} at the same time`,
        "Let only one machine publish there; the next run tries it again",
      );
    if (!isOurs && (status < 200 || status >= 300)) throw refusal(`PUT ${name}`, response);
    this.sent++;
    this.bytes += bytes;
  }

  private async remove(name: string): Promise<void> {
    const response = await this.client.send({ method: "DELETE", name });
    const { status } = response;
    if (status !== 404 && (status < 200 || status >= 300))
      throw refusal(`DELETE ${name}`, response);
  }

  private async digest({ name, path }: FolderFile): Promise<string> {
    const digest = await digestOfFile(path, this.setting.host);
    if (digest === undefined) throw new TargetFailure(`${printable(name)} cannot be read`);
    return digest;
  }
}

/** Only the manifest that was seen may be replaced. */
function conditionOf({ etag, isMissing }: Remote): Record<string, string> {
  if (isMissing) return { "if-none-match": "*" };
  return etag === undefined ? {} : { "if-match": etag };
}

/** Blocks of a file. Rejects with a `HostError`. */
async function* blocksOf(path: string, host: Host): AsyncGenerator<Uint8Array> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    for (;;) {
      // A new one each time: the last may still be on its way.
      const block = new Uint8Array(BLOCK);
      const count = await file.read(block);
      if (count === 0) return;
      yield block.subarray(0, count);
    }
  } finally {
    await file?.close();
  }
}

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: "Create the bucket, or check bucket and endpoint",
  SignatureDoesNotMatch: "Check AWS_SECRET_ACCESS_KEY, and region",
  InvalidAccessKeyId: "Check AWS_ACCESS_KEY_ID, and endpoint",
  AccessDenied: "The keys need s3:GetObject, s3:PutObject and s3:DeleteObject for the prefix",
  AuthorizationHeaderMalformed: "Check region",
  PermanentRedirect: "Check region and endpoint",
  RequestTimeTooSkewed: "Set the clock of this machine",
  ExpiredToken: "Get new keys: the session token has expired",
};

function refusal(what: string, { status, code, message }: StoreResponse): TargetFailure {
  const said = [code, message].filter((part) => part !== "").join(": ");
  const hint = Object.hasOwn(HINTS, code) ? HINTS[code] : undefined;
  const text = said === "" ? `status ${status}` : `status ${status}, ${said}`;
  return new TargetFailure(`${printable(what, 100)}: ${text}`, hint);
}

function isSentState(value: unknown): value is SentState {
  if (typeof value !== "object" || value === null) return false;
  const { version, names } = value as Partial<SentState>;
  return version === 1 && isTexts(names);
}
