import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { HostError } from "./host.ts";
import { bareHost } from "./public-address.ts";

/** Asks the proxy for a way to the server, and speaks TLS with the server through it. */
export async function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Duplex> {
  const target = `${url.hostname}:${url.port || "443"}`;
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const client = proxy.protocol === "https:" ? https : http;
    const asking = client.request({
      ...addressOf(proxy),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...credentialsOf(proxy) },
      agent: false,
      signal,
    });
    asking.on("error", reject);
    asking.on("response", ({ statusCode }) => reject(refusal(statusCode)));
    asking.on("connect", ({ statusCode }, connection: Duplex) => {
      if (statusCode === 200) resolve(connection);
      else {
        connection.destroy();
        reject(refusal(statusCode));
      }
    });
    asking.end();
  });
  const servername = bareHost(url.hostname);
  return await new Promise((resolve, reject) => {
    const secure = tls.connect({
      socket,
      ALPNProtocols: ["http/1.1"],
      // A name is checked against the certificate; an address may not be sent as one.
      ...(/^[\d.:]+$/.test(servername) ? { host: servername } : { servername }),
    });
    const stopped = new HostError("ECONNRESET", "the proxy closed the tunnel");
    secure.once("secureConnect", () => resolve(secure));
    secure.once("error", reject);
    secure.once("close", () => reject(stopped));
    signal.addEventListener(
      "abort",
      () => {
        secure.destroy();
        reject(stopped);
      },
      { once: true },
    );
  });
}

/** A plain request is handed to the proxy with the whole address in it. */
export function forwardRequest(
  proxy: URL,
  url: URL,
  options: https.RequestOptions,
): http.RequestOptions {
  const bare = new URL(url);
  bare.username = bare.password = "";
  const credentials = url.username === "" ? {} : { authorization: `Basic ${basic(url)}` };
  return {
    ...options,
    ...addressOf(proxy),
    path: bare.href,
    headers: { host: url.host, ...options.headers, ...credentials, ...credentialsOf(proxy) },
  };
}

function addressOf(proxy: URL): http.RequestOptions {
  const isSecure = proxy.protocol === "https:";
  return {
    protocol: proxy.protocol,
    host: bareHost(proxy.hostname),
    port: Number(proxy.port) || (isSecure ? 443 : 80),
  };
}

function credentialsOf(proxy: URL): Record<string, string> {
  return proxy.username === "" ? {} : { "proxy-authorization": `Basic ${basic(proxy)}` };
}

function basic({ username, password }: URL): string {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return Buffer.from(pair).toString("base64");
}

function refusal(status: number | undefined): HostError {
  if (status === 407) return new HostError("EPROXY", "the proxy rejected the credentials");
  return new HostError("EPROXY", `the proxy responded with status ${status ?? "none"}`);
}
