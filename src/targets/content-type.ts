/** By the last ending of a name. What is not here is text, as lists are. */
const TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  gz: "application/gzip",
  zst: "application/zstd",
  cdb: "application/octet-stream",
  srs: "application/octet-stream",
};

/** The type of a published file. */
export function contentType(name: string): string {
  const ending = /\.(?<ending>[a-z0-9]+)$/.exec(name)?.groups?.["ending"] ?? "";
  return (Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined) ?? "text/plain; charset=utf-8";
}
