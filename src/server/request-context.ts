import { Actions, type ActionsOptions } from "./actions.ts";
import type { BearerToken } from "./bearer-token.ts";
import type { RouteContext } from "./routes.ts";
import type { Runner } from "./runner.ts";
import { WhyAnswers, type WhyOptions } from "./why-answers.ts";

/** What clients may ask for, besides files. */
export interface RequestSettings {
  /** Names of the lists, ... */
  readonly listNames: readonly string[];
  /** ... and of the resolvers that the configuration names. */
  readonly resolvers: readonly string[];
  /** The token that requests to act must have. */
  readonly token: BearerToken;
  /** The host names that the server has in the public DNS. */
  readonly hostNames: readonly string[];
  readonly act: ActionsOptions["act"];
  readonly why: WhyOptions["answer"];
}

type Parts = Omit<ActionsOptions, "act"> & Pick<WhyOptions, "version">;

/** The parts of the routes that start other processes. */
export function requestContext(
  { listNames, hostNames, resolvers, token, act, why: answer }: RequestSettings,
  { version, ...parts }: Parts,
  runner: () => Runner,
): Pick<RouteContext, "token" | "hostNames" | "listNames" | "why" | "act"> {
  const { host, signal } = parts;
  const actions = new Actions({ ...parts, act });
  return {
    token,
    hostNames,
    listNames,
    why: new WhyAnswers({ host, signal, resolvers, answer, version }),
    act: async (request) => await actions.answer(request, runner()),
  };
}
