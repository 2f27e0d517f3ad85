import type { WebReply, WebRequest } from "../host/host.ts";
import type { Edition, Form } from "./published-list.ts";

/** A list as HTTP gives it: in the form that the client prefers, in part if it wants that, or not at all if it has it. */
export function answerList(request: WebRequest, edition: Edition): WebReply {
  const { headers: asked } = request;
  const form = chooseForm(edition, asked["accept-encoding"]);
  const { headers, etag, size } = form;
  if (isKnown(asked, etag, edition.modified))
    return { status: 304, headers: bareOf(form), body: "" };
  const wanted = asked["range"];
  const range =
    wanted === undefined || request.method !== "GET" || !isRangeGood(asked["if-range"], headers)
      ? "all"
      : rangeOf(wanted, size);
  if (range === "all") {
    const body = request.method === "HEAD" ? "" : form.read(0, size);
    return { status: 200, headers, body };
  }
  if (range === "none") {
    const none = { "content-range": `bytes */${size}`, "content-length": "0" };
    return { status: 416, headers: { ...bareOf(form), ...none }, body: "" };
  }
  const [start, end] = range;
  const part = {
    "content-range": `bytes ${start}-${end - 1}/${size}`,
    "content-length": String(end - start),
  };
  return { status: 206, headers: { ...bareOf(form), ...part }, body: form.read(start, end) };
}

/** The head without a length: that of another body, or of none. */
function bareOf({ headers }: Form): Record<string, string> {
  const { "content-length": _length, ...bare } = headers;
  return bare;
}

/** The smallest form that is accepted; the plain one where nothing else is, and where somebody accepts nothing at all. */
function chooseForm({ forms }: Edition, accepted: string | undefined): Form {
  if (accepted === undefined || forms.length === 1) return forms[0]!;
  const weights = new Map<string, number>();
  for (const part of accepted.split(",")) {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2);
    if (name !== "") weights.set(name === "x-gzip" ? "gzip" : name, Number(quality ?? 1) || 0);
  }
  const isAccepted = ({ packing }: Form): boolean =>
    packing !== undefined && (weights.get(packing) ?? weights.get("*") ?? 0) > 0;
  const packed = forms.filter(isAccepted).toSorted((a, b) => a.size - b.size)[0];
  return packed ?? forms[0]!;
}

function isKnown(asked: WebRequest["headers"], etag: string, modified: Date): boolean {
  const tags = asked["if-none-match"];
  if (tags !== undefined)
    return tags.split(",").some((tag) => [etag, "*"].includes(tag.trim().replace(/^W\//, "")));
  const since = asked["if-modified-since"];
  return since !== undefined && modified.getTime() <= Date.parse(since);
}

/** `If-Range`: the rest of what somebody has is good only if that is still the same. */
function isRangeGood(condition: string | undefined, headers: Form["headers"]): boolean {
  return (
    condition === undefined ||
    condition === headers["etag"] ||
    condition === headers["last-modified"]
  );
}

/** One range; several at once, and what is no range, are answered with everything, as the standard allows. */
function rangeOf(text: string, size: number): [number, number] | "all" | "none" {
  const { first, last } = /^bytes=(?<first>\d{0,15})-(?<last>\d{0,15})$/.exec(text)?.groups ?? {};
  if (first === undefined || last === undefined || (first === "" && last === "")) return "all";
  if (first === "") return Number(last) === 0 ? "none" : [Math.max(0, size - Number(last)), size];
  if (last !== "" && Number(last) < Number(first)) return "all";
  if (Number(first) >= size) return "none";
  return [Number(first), last === "" ? size : Math.min(size, Number(last) + 1)];
}
