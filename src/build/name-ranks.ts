import { decodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { type Host, HostError } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { registrableDomain } from "../syntax/host-name.ts";
import type { BuildOptions } from "./build-options.ts";

export type { RankedNames } from "../meaning/ranked-names.ts";

/** The rank of a name, or of its registrable domain if only that has one. */
export interface NameRank {
  readonly rank: number;
  /** The registrable domain, if it is not the name itself. */
  readonly of?: string;
}

/**
 * The popular names of the configuration, from its files and from cached copies, without a network. Undefined without `ranks`, and if
 * they cannot be read: an answer must not fail because of them.
 */
export async function openRanks(
  options: BuildOptions,
  host: Host,
): Promise<RankedNames | undefined> {
  if (options.inputs.length > 0) return undefined;
  try {
    // Parsing the configuration, and loading the code for it, takes longer than most answers.
    const text = await host.readFile(host.path.resolve(host.cwd, options.configPath));
    if (!decodeUtf8(text).includes("ranks")) return undefined;
    const { readRanks } = await import("./read-ranks.ts");
    return await readRanks(options, host);
  } catch (error) {
    if (error instanceof CompilerError || error instanceof HostError) return undefined;
    throw error;
  }
}

/** Finds the ranks of names; undefined if neither a name nor its registrable domain has one. */
export async function rankFinder(
  options: BuildOptions,
  host: Host,
): Promise<(name: string) => NameRank | undefined> {
  const ranks = await openRanks(options, host);
  if (ranks === undefined) return () => undefined;
  return (name) => {
    const own = ranks.rankOf(name);
    if (own !== undefined) return { rank: own };
    const domain = registrableDomain(name);
    const rank = domain === undefined ? undefined : ranks.rankOf(domain);
    return domain === undefined || rank === undefined ? undefined : { rank, of: domain };
  };
}
