/** As much of `node:zlib` as the engine uses. A page unpacks gzip when files are added; it has no other packing. */

type Done = (error: Error | null, bytes?: Uint8Array) => void;

/** Unpacks what this page has packed itself. */
export function gunzip(bytes: Uint8Array<ArrayBuffer>, _options: unknown, done: Done): void {
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  new Response(unpacked).arrayBuffer().then(
    (whole) => done(null, new Uint8Array(whole)),
    (error: unknown) => done(Object.assign(new Error(String(error)), { code: "Z_DATA_ERROR" })),
  );
}

function absent(): never {
  throw new Error("this page cannot decompress it; decompress the file first");
}

export const constants = {};
/** The engine has its own, slower one. */
export const crc32 = undefined;
export {
  absent as brotliDecompressSync,
  absent as createBrotliDecompress,
  absent as createGunzip,
  absent as createInflate,
  absent as createInflateRaw,
  absent as createZstdDecompress,
  absent as gunzipSync,
  absent as inflateSync,
  absent as zstdDecompress,
};
// oxlint-disable-next-line import/no-default-export -- the engine imports it
export default { gunzip, zstdDecompress: absent };
