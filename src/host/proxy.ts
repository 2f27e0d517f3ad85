import { bareHost, isInRange } from "./public-address.ts";

/**
 * The proxy that the environment sets for an address: `HTTPS_PROXY` or `HTTP_PROXY`, else `ALL_PROXY`, unless
 * `NO_PROXY` excepts it. Lower case wins, as with curl. Undefined for a direct connection.
 */
export function proxyFor(
  url: URL,
  env: Readonly<Record<string, string | undefined>>,
): URL | undefined {
  const value = (name: string): string => env[name.toLowerCase()] || env[name] || "";
  if (isExcepted(url, value("NO_PROXY"))) return undefined;
  const text =
    value(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") || value("ALL_PROXY");
  if (text === "") return undefined;
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new Error("the URL of the proxy cannot be read");
  const proxy = new URL(address);
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:")
    throw new Error(`a ${proxy.protocol.slice(0, -1)} proxy is not supported; use an http one`);
  return proxy;
}

/** `*`, names (with their subdomains), `.names`, `host:port`, addresses and ranges such as `10.0.0.0/8`. */
function isExcepted(url: URL, list: string): boolean {
  const host = bareHost(url.hostname).toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  for (const word of list.split(/[\s,]+/)) {
    const entry = word.toLowerCase();
    if (entry === "") continue;
    if (entry === "*") return true;
    if (/^[\d.]+\/\d{1,2}$/.test(entry)) {
      if (isInRange(host, entry)) return true;
      continue;
    }
    const { name, only } = /^\[?(?<name>.*?)\]?(?::(?<only>\d+))?$/.exec(
      // An IPv6 address has colons of its own.
      entry.startsWith("[") || entry.split(":").length === 2 ? entry : `[${entry}]`,
    )!.groups as { name: string; only?: string };
    if (only !== undefined && only !== port) continue;
    const bare = name.replace(/^\*?\./, "");
    if (host === bare || host.endsWith(`.${bare}`)) return true;
  }
  return false;
}
