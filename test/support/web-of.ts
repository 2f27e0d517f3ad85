import { type Host, HostError } from "./internals.ts";

/** A web that answers by address; what it does not have is 404, and private addresses are refused unless they are meant. */
export function webOf(answers: Readonly<Record<string, string>>): Pick<Host, "fetch"> {
  return {
    fetch: async (request) => {
      const { url, onlyPublic } = request;
      if (onlyPublic && new URL(url).hostname.startsWith("192.168."))
        throw new HostError("EPRIVATE", "192.168.1.5 is in a private network");
      const body = answers[url];
      if (body !== undefined) request.take(new TextEncoder().encode(body));
      return { status: body === undefined ? 404 : 200, headers: {} };
    },
  };
}
