import { withinLimits } from "./exchange-clock.ts";
import { type FetchRequest, type FetchResponse, HostError } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";
import { bareHost } from "./public-address.ts";
import { publicLookup, refusePrivateName } from "./public-lookup.ts";

/**
 * The same exchange with the global `fetch`, for Deno before 2.9: its node:http ends the whole process if a body is
 * truncated. Deno's `fetch` unpacks the body strictly and reads the proxy from the environment. Names are resolved twice,
 * for the check and for the connection, because `fetch` does not accept an address.
 */
export async function webFetchOnce(request: FetchRequest): Promise<FetchResponse> {
  return await withinLimits(request, async (clock, signal) => {
    clock.asking();
    if (request.onlyPublic) await refusePrivateHost(new URL(request.url).hostname, request);
    const response = await fetch(request.url, {
      method: request.method ?? "GET",
      headers: { ...request.headers },
      ...(request.body && { body: await wholeBody(request.body) }),
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

/** Deno 2.0 sends an iterable without its length, which stores reject. */
async function wholeBody(
  body: NonNullable<FetchRequest["body"]>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body instanceof Uint8Array) return body.slice();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece.slice());
    length += piece.length;
  }
  return joinBytes(pieces, length).slice();
}

async function refusePrivateHost(hostname: string, { proxy }: FetchRequest): Promise<void> {
  refusePrivateName(hostname);
  if (proxy !== undefined) return;
  await new Promise<void>((resolve, reject) => {
    publicLookup(bareHost(hostname), {}, (error) => (error === null ? resolve() : reject(error)));
  });
}
