import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | readonly string[];
  readonly base64?: string;
}
export type Routes = Readonly<Record<string, Answer>>;

/** A real server on the loopback; `{{BASE}}` in an answer becomes its own address. */
export async function serve(routes: Routes): Promise<{ base: string; close(): Promise<void> }> {
  let base = "";
  const server = createServer((request, response) => {
    const route = routes[request.url ?? ""];
    if (route === undefined) {
      response.writeHead(404, { "content-type": "text/plain" });
      response.end("not found");
      return;
    }
    const answer = JSON.parse(JSON.stringify(route).replaceAll("{{BASE}}", base)) as Answer;
    response.writeHead(answer.status ?? 200, answer.headers ?? { "content-type": "text/plain" });
    if (answer.base64 !== undefined) response.end(Buffer.from(answer.base64, "base64"));
    else
      response.end(typeof answer.body === "object" ? answer.body.join("\n") : (answer.body ?? ""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
