import type { ProjectOptions } from "../build/build-options.ts";
import { openProject } from "../build/project.ts";
import { type Resolver, resolversOf } from "../config/resolvers.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { type Host, HostError } from "../host/host.ts";
import { type ClientLimits, DnsClient } from "./dns-client.ts";

/** Resolvers follow about as many. */
const LONGEST = 16;
const NAME = /^(?=.{1,253}$)[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/;

/** The resolver of a configuration with this name. Rejects with a `CompilerError` if it does not exist. */
export async function resolverNamed(
  name: string,
  options: ProjectOptions,
  host: Host,
): Promise<Resolver> {
  const { project } = await openProject({ ...options, filter: [] }, host);
  const resolvers = resolversOf(project.config);
  const found = resolvers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = resolvers.map((one) => one.name);
  throw new CompilerError([
    errorOf("no-resolvers", `No resolver has the name ${printable(name, 60)}`, {
      ...(names.length > 0 && { hint: `Resolvers: ${someOf(names)}` }),
      all: names,
    }),
  ]);
}

/**
 * A name and the names that it is an alias of, in order, as a resolver sees them. A resolver that blocks one of them may hide the
 * rest. Rejects with a `CompilerError` if the resolver does not answer.
 */
export async function cnameChain(
  name: string,
  resolver: Resolver,
  host: Host,
  how: { readonly signal?: AbortSignal; readonly limits?: ClientLimits } = {},
): Promise<string[]> {
  const client = new DnsClient(resolver, host, how.limits);
  const chain = [name];
  try {
    const { aliases = new Map<string, string>() } = await client.ask(name, "A", how.signal);
    for (let next = aliases.get(name); next !== undefined; next = aliases.get(next)) {
      // The answer is not trusted: names may repeat and contain any byte.
      if (chain.length === LONGEST || chain.includes(next) || !NAME.test(next)) break;
      chain.push(next);
    }
    return chain;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("resolver-unreachable", `${printable(resolver.name, 60)} does not answer`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
