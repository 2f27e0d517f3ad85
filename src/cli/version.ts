import { fileURLToPath } from "node:url";
import { VERSION } from "../diagnostics/version.ts";
import { textAt } from "../host/node-code-cache.ts";

/** What `--version` prints. It needs nothing else of the program, so that scripts which ask for it do not wait. */
export function versionText(): string {
  const commit = buildCommit(import.meta.url, textAt);
  return commit === undefined ? VERSION : `${VERSION} (commit ${commit})`;
}

const COMMIT = /^[0-9a-f]{40,64}$/;
const SHORT = 10;

/** The commit of a program that is not a release: the one it was packed from, or the one checked out around it. */
export function buildCommit(
  module: string,
  read: (path: string) => string | undefined,
): string | undefined {
  if (!module.startsWith("file:")) return undefined;
  const fileAt = (path: string): string | undefined =>
    read(fileURLToPath(new URL(path, module)))?.trim();
  const packed = fileAt("../commit");
  const head = packed ?? fileAt("../../.git/HEAD");
  const branch = head?.startsWith("ref: ") === true ? head.slice("ref: ".length) : undefined;
  const commit =
    branch === undefined
      ? head
      : (fileAt(`../../.git/${branch}`) ?? packedCommit(fileAt("../../.git/packed-refs"), branch));
  return commit !== undefined && COMMIT.test(commit) ? commit.slice(0, SHORT) : undefined;
}

/** The commit of a branch that git moved into its file of packed references. */
function packedCommit(references: string | undefined, branch: string): string | undefined {
  const line = references?.split("\n").find((one) => one.endsWith(` ${branch}`));
  return line?.split(" ")[0];
}
