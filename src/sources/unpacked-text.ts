import type { Host } from "../host/host.ts";
import { type DecodedText, decodeText, isWide } from "./decode.ts";
import { DownloadedBody } from "./downloaded-body.ts";
import { FETCH_LIMITS } from "./fetch-limits.ts";
import { unpack } from "./unpack.ts";

/** The largest local file that is unpacked in memory. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;

/** The text of a local file that is packed, in an archive, or UTF-16. Rejects with a `CompilerError`. */
export async function unpackedText(
  bytes: Uint8Array,
  { label, member }: { readonly label: string; readonly member?: string | undefined },
  host: Host,
): Promise<DecodedText> {
  const raw = isWide(bytes) ? bytes : await unpacked(bytes, label, member, host);
  return await decodeText(raw, label, {}, MAX_LIST_BYTES);
}

async function unpacked(
  bytes: Uint8Array,
  label: string,
  member: string | undefined,
  host: Host,
): Promise<Uint8Array> {
  const packed = new DownloadedBody(host);
  packed.append(bytes);
  const limits = { ...FETCH_LIMITS, maxBytes: MAX_LIST_BYTES, maxRatio: Infinity };
  const body = await unpack(packed, undefined, label, { host, limits, member });
  const text = new Uint8Array(body.size);
  if (text.length > 0) body.read(0, text);
  body.close();
  return text;
}
