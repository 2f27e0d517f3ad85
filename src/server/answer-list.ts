import type { WebReply, WebRequest } from "../host/host.ts";
import type { ListVersion, Variant } from "./list-version.ts";

/** Answers a request for a list: content negotiation, ranges and conditional requests (RFC 9110). */
export function answerList(request: WebRequest, version: ListVersion): WebReply {
  const { headers: asked } = request;
  const variant = chooseVariant(version, asked["accept-encoding"]);
  const { headers, etag, size } = variant;
  if (isKnown(asked, etag, version.modified))
    return { status: 304, headers: bareOf(variant), body: "" };
  const wanted = asked["range"];
  const range =
    wanted === undefined || request.method !== "GET" || !isRangeGood(asked["if-range"], headers)
      ? "all"
      : parseRange(wanted, size);
  if (range === "all") {
    const body = request.method === "HEAD" ? "" : variant.read(0, size);
    return { status: 200, headers, body };
  }
  if (range === "none") {
    const none = { "content-range": `bytes */${size}`, "content-length": "0" };
    return { status: 416, headers: { ...bareOf(variant), ...none }, body: "" };
  }
  const [start, end] = range;
  const part = {
    "content-range": `bytes ${start}-${end - 1}/${size}`,
    "content-length": String(end - start),
  };
  return { status: 206, headers: { ...bareOf(variant), ...part }, body: variant.read(start, end) };
}

/** The headers without the length, for another body or none. */
function bareOf({ headers }: Variant): Record<string, string> {
  const { "content-length": _length, ...bare } = headers;
  return bare;
}

/** The smallest variant that the client accepts; the uncompressed one if it accepts nothing else, or nothing at all. */
function chooseVariant({ variants }: ListVersion, accepted: string | undefined): Variant {
  if (accepted === undefined || variants.length === 1) return variants[0]!;
  const weights = new Map<string, number>();
  for (const part of accepted.split(",")) {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2);
    if (name !== "") weights.set(name === "x-gzip" ? "gzip" : name, Number(quality ?? 1) || 0);
  }
  const isAccepted = ({ packing }: Variant): boolean =>
    packing !== undefined && (weights.get(packing) ?? weights.get("*") ?? 0) > 0;
  const packed = variants.filter(isAccepted).toSorted((a, b) => a.size - b.size)[0];
  return packed ?? variants[0]!;
}

function isKnown(asked: WebRequest["headers"], etag: string, modified: Date): boolean {
  const tags = asked["if-none-match"];
  if (tags !== undefined)
    return tags.split(",").some((tag) => [etag, "*"].includes(tag.trim().replace(/^W\//, "")));
  const since = asked["if-modified-since"];
  return since !== undefined && modified.getTime() <= Date.parse(since);
}

/** `If-Range`: a range is only useful to a client whose copy is still current. */
function isRangeGood(condition: string | undefined, headers: Variant["headers"]): boolean {
  return (
    condition === undefined ||
    condition === headers["etag"] ||
    condition === headers["last-modified"]
  );
}

/** Supports a single range. Several ranges and invalid ones yield the whole list, as RFC 9110 allows. */
function parseRange(text: string, size: number): [number, number] | "all" | "none" {
  const { first, last } = /^bytes=(?<first>\d{0,15})-(?<last>\d{0,15})$/.exec(text)?.groups ?? {};
  if (first === undefined || last === undefined || (first === "" && last === "")) return "all";
  if (first === "") return Number(last) === 0 ? "none" : [Math.max(0, size - Number(last)), size];
  if (last !== "" && Number(last) < Number(first)) return "all";
  if (Number(first) >= size) return "none";
  return [Number(first), last === "" ? size : Math.min(size, Number(last) + 1)];
}
