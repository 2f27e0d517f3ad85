import { literalAddress } from "../host/public-address.ts";
import { durationMs } from "./duration.ts";
import type { Config, TargetConfig } from "./config.ts";
import { mayReceiveSecrets } from "./hook-problems.ts";

interface TargetProblem {
  /** The position of the target. */
  readonly index: number;
  readonly field?: string;
  readonly message: string;
  readonly hint?: string;
}

type Found = Omit<TargetProblem, "index">;

const LONGEST_MS = 3_600_000;
/** Words of visible ASCII characters. */
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;

/** Problems of targets whose fields have the right types. */
export function* targetProblems({ publish = [] }: Config): Generator<TargetProblem> {
  const seen = new Set<string>();
  for (const [index, target] of publish.entries()) {
    const at = `publish[${index}]`;
    for (const problem of problemsOf(target, at)) yield { index, ...problem };
    const { git, s3 } = target;
    const key = JSON.stringify([
      git?.remote,
      git?.branch,
      s3?.endpoint,
      s3?.bucket,
      s3?.prefix?.replace(/\/$/, ""),
    ]);
    if (seen.has(key)) yield { index, message: `${at} is the same place as another target` };
    seen.add(key);
  }
}

function* problemsOf({ git, s3, timeout }: TargetConfig, at: string): Generator<Found> {
  if ((git === undefined) === (s3 === undefined))
    return yield {
      message: `${at} must have exactly one of git and s3`,
      hint: "Write one entry for each",
    };
  const ms = timeout === undefined ? 1 : (durationMs(timeout) ?? 0);
  if (ms <= 0 || ms > LONGEST_MS)
    yield { field: "timeout", message: `${at}.timeout must be longer than 0 and at most 1h` };
  if (git !== undefined) yield* gitProblems(git, at);
  if (s3 !== undefined) yield* bucketProblems(s3, at);
}

function* gitProblems(
  { remote, branch }: NonNullable<TargetConfig["git"]>,
  at: string,
): Generator<Found> {
  const field = "git";
  if (!isRemote(remote))
    yield {
      field,
      message: `${at}.git.remote must be an https or ssh address without a password and a query, or a folder`,
      hint: "git has the credentials: a credential helper, or an ssh key",
    };
  if (!isBranch(branch))
    yield {
      field,
      message: `${at}.git.branch is not the name of a branch`,
      hint: "Use letters, digits, ., _, - and /",
    };
}

/** Rejects addresses that start programs (`ext::`), words that git takes for options, passwords and queries. */
function isRemote(remote: string): boolean {
  if (!/^[^-\s\u0000-\u001f\u007f][^\u0000-\u001f\u007f]*$/.test(remote)) return false;
  if (/^[a-z][a-z0-9+.-]*::/i.test(remote)) return false;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(remote)) return true;
  if (!URL.canParse(remote)) return false;
  const url = new URL(remote);
  // A forge may take a token in the query, which git would print.
  if (/[?#]/.test(remote)) return false;
  return url.protocol === "ssh:" ? url.password === "" : mayReceiveSecrets(url);
}

function isBranch(branch: string): boolean {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/.test(branch)) return false;
  return !/\.\.|\/\/|\/\.|\.\/|\.lock(?:\/|$)|[./]$/.test(branch);
}

function* bucketProblems(s3: NonNullable<TargetConfig["s3"]>, at: string): Generator<Found> {
  const { endpoint, bucket, region, prefix, path_style: isPath, cache_control: cache } = s3;
  const field = "s3";
  if (!isEndpoint(endpoint))
    yield {
      field,
      message: `${at}.s3.endpoint must be an https address without a path and a password`,
      hint: "http is possible for this machine and for private IP addresses",
    };
  else if (isPath === false && literalAddress(new URL(endpoint).hostname) !== undefined)
    yield { field, message: `${at}.s3.path_style: false needs a name in endpoint, not an address` };
  if (!BUCKET.test(bucket)) yield { field, message: `${at}.s3.bucket is not the name of a bucket` };
  if (region !== undefined && !/^[A-Za-z0-9-]{1,64}$/.test(region))
    yield { field, message: `${at}.s3.region is not the name of a region` };
  if (prefix !== undefined && !isPrefix(prefix))
    yield {
      field,
      message: `${at}.s3.prefix must be a folder such as lists/dns`,
      hint: "Without a slash at its start, empty names, . and ..",
    };
  if (cache !== undefined && !PLAIN.test(cache))
    yield { field, message: `${at}.s3.cache_control must be the value of a header` };
}

function isEndpoint(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const url = new URL(endpoint);
  return url.pathname === "/" && url.search === "" && url.hash === "" && mayReceiveSecrets(url);
}

function isPrefix(prefix: string): boolean {
  const names = prefix.replace(/\/$/, "").split("/");
  if (prefix.length > 500 || /[\u0000-\u001f\u007f]/.test(prefix)) return false;
  if (!prefix.isWellFormed()) return false;
  return names.every((name) => name !== "" && name !== "." && name !== "..");
}
