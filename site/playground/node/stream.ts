/** Query logs and archives need streams of Node; a page reads neither. */
export async function pipeline(): Promise<never> {
  throw new Error("this page cannot decompress it; decompress the file first");
}

export const Readable = {
  from(): never {
    throw new Error("this page reads no query logs");
  },
};
