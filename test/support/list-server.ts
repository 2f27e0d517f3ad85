import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

export interface ListServer {
  readonly base: string;
  /** What paths answer that are not files: a status, or a page. */
  readonly pages: Map<string, { status: number; type?: string; body?: string }>;
  close(): Promise<void>;
}

/** Serves the files of some folders as lists, over the loopback. */
export async function serveLists(folders: readonly string[]): Promise<ListServer> {
  const pages: ListServer["pages"] = new Map();
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? "/").slice(1));
    const page = pages.get(name);
    const file = folders
      .map((folder) => join(folder, basename(name)))
      .find((path) => name !== "" && existsSync(path));
    if (page !== undefined || file === undefined)
      response
        .writeHead(page?.status ?? 404, { "content-type": page?.type ?? "text/plain" })
        .end(page?.body ?? "not found");
    else createReadStream(file).pipe(response.writeHead(200, { "content-type": "text/plain" }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
