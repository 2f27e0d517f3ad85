import { type FetchRequest, type FetchResponse, type Host } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";

/** One exchange whose body is small enough to be kept. Rejects with a `HostError`. */
export async function fetchBody(
  request: Omit<FetchRequest, "take">,
  host: Host,
): Promise<FetchResponse & { readonly body: Uint8Array }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const response = await host.fetch({
    ...request,
    take(piece) {
      pieces.push(piece.slice());
      length += piece.length;
    },
  });
  return { ...response, body: joinBytes(pieces, length) };
}
