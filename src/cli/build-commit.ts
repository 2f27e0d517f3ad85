import { fileURLToPath } from "node:url";
import type { Host } from "../host/host.ts";

const COMMIT = /^[0-9a-f]{40,64}$/;
const SHORT = 10;

/** The commit of a program that is not a release: the one it was packed from, or the one checked out around it. */
export async function buildCommit(
  host: Host,
  module: string = import.meta.url,
): Promise<string | undefined> {
  if (!module.startsWith("file:")) return undefined;
  const fileAt = async (path: string): Promise<string | undefined> => {
    try {
      const bytes = await host.readFile(fileURLToPath(new URL(path, module)));
      return new TextDecoder().decode(bytes).trim();
    } catch {
      return undefined;
    }
  };
  const packed = await fileAt("../commit");
  const head = packed ?? (await fileAt("../../.git/HEAD"));
  const branch = head?.startsWith("ref: ") === true ? head.slice("ref: ".length) : undefined;
  const commit =
    branch === undefined
      ? head
      : ((await fileAt(`../../.git/${branch}`)) ??
        packedCommit(await fileAt("../../.git/packed-refs"), branch));
  return commit !== undefined && COMMIT.test(commit) ? commit.slice(0, SHORT) : undefined;
}

/** The commit of a branch that git moved into its file of packed references. */
function packedCommit(references: string | undefined, branch: string): string | undefined {
  const line = references?.split("\n").find((one) => one.endsWith(` ${branch}`));
  return line?.split(" ")[0];
}
