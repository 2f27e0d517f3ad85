import type { BuildContext } from "../build/build-context.ts";
import type { ListPlan } from "../build/list-plan.ts";
import { readProof, rememberBefore } from "../build/state/last-proof.ts";
import { resolversOf } from "../config/resolvers.ts";
import { HostError } from "../host/host.ts";
import { buildOf } from "../syntax/canary-name.ts";
import { type ClientLimits, DnsClient } from "./dns-client.ts";
import { NO_NAMES, ResolverCheck } from "./resolver-check.ts";

/**
 * Asks the resolvers of a list whether they answer from the published build, before another is published. One that does not is at
 * fault from the start and does not decide about the new build.
 */
export async function askBefore(
  { list: { config, project }, files }: ListPlan,
  canary: string,
  { host, signal }: Pick<BuildContext, "host" | "signal">,
  limits?: ClientLimits,
): Promise<void> {
  const resolvers = resolversOf(project.config).filter(({ list }) => list === config.name);
  if (!resolvers.some(({ mayRollBack }) => mayRollBack)) return;
  const answers = await Promise.all(
    resolvers.map(async (resolver) => {
      const client = new DnsClient(resolver, host, limits);
      const check = new ResolverCheck(client, { names: NO_NAMES, others: [], signal }, host);
      return (await check.answersFrom(canary)) ? [resolver.name] : [];
    }),
  );
  const { path } = files[0]!;
  const build = buildOf(canary);
  const { before } = await readProof(path, host);
  // A run that was killed published this build again, and may not have reloaded the resolvers that answered from it.
  const known = before?.build === build ? before.resolvers : [];
  const all = [...new Set([...known, ...answers.flat()])];
  await rememberBefore(path, { build, resolvers: all }, host).catch((error: unknown) => {
    // The last proofs then decide.
    if (!(error instanceof HostError)) throw error;
  });
}
