import { withinLimits } from "./exchange-clock.ts";
import { type FetchRequest, type FetchResponse, HostError } from "./host.ts";
import { bareHost } from "./public-address.ts";
import { publicLookup, refusePrivateName } from "./public-lookup.ts";

/**
 * The same exchange by way of the global `fetch`, for Deno before 2.9: its node:http ends the whole process when a body
 * is cut short. Deno's `fetch` unpacks the body itself, strictly, and reads the proxy from the environment itself. Names
 * are resolved once to be looked at and once more to connect, because `fetch` cannot be told the address.
 */
export async function webFetchOnce(request: FetchRequest): Promise<FetchResponse> {
  return await withinLimits(request, async (clock, signal) => {
    clock.asking();
    if (request.onlyPublic) await refusePrivateHost(new URL(request.url).hostname, request);
    const response = await fetch(request.url, {
      headers: { ...request.headers },
      redirect: "manual",
      signal,
    });
    clock.receiving();
    const headers: Record<string, string> = {};
    for (const [name, value] of response.headers)
      if (name !== "content-encoding") headers[name] = value;
    if (response.status !== 200 && request.takesAnyStatus !== true) {
      await response.body?.cancel();
      return { status: response.status, headers };
    }
    let length = 0;
    for await (const piece of response.body ?? []) {
      clock.receiving();
      length += piece.length;
      if (length > request.maxBytes)
        throw new HostError("EFBIG", `the response is larger than ${request.maxBytes} bytes`);
      request.take(piece);
    }
    return { status: response.status, headers };
  });
}

async function refusePrivateHost(hostname: string, { proxy }: FetchRequest): Promise<void> {
  refusePrivateName(hostname);
  if (proxy !== undefined) return;
  await new Promise<void>((resolve, reject) => {
    publicLookup(bareHost(hostname), {}, (error) => (error === null ? resolve() : reject(error)));
  });
}
