/** Ends of names that no server of the public DNS can have. */
const PRIVATE_ENDS =
  /\.(?:corp|home|home\.arpa|internal|intranet|lan|local|localdomain|localhost|private|svc|test)$/;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Whether a request names this server by a host name that no web site can use for it: any site may let a name of its own resolve to this
 * machine, and read from it what the browser of a visitor can reach. IP addresses, names without a dot and names of private
 * networks are not names of sites; others must be given.
 */
export function isKnownHost(host: string | undefined, given: readonly string[]): boolean {
  // Browsers always name the host.
  if (host === undefined || host === "") return true;
  const isIpv6 = /^\[[\d:a-f.]+\](?::\d+)?$/i.test(host);
  const name = host.replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
  if (isIpv6 || IPV4.test(name) || given.includes(name)) return true;
  const isName = /^[\w-]+(?:\.[\w-]+)*$/.test(name);
  return isName && (!name.includes(".") || PRIVATE_ENDS.test(name));
}
