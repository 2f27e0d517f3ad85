import dns from "node:dns";
import { HostError } from "./host.ts";
import { isPublicAddress, literalAddress } from "./public-address.ts";

/** Names that stand for this machine or its network whatever they resolve to. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)\.?$/i;

/** What can be told from the address alone. Names are looked at again when they are resolved. */
export function refusePrivateName(hostname: string): void {
  const literal = literalAddress(hostname);
  if (literal === undefined ? LOCAL_NAME.test(hostname) : !isPublicAddress(literal))
    throw notPublic(literal ?? hostname);
}

type Found = (error: Error | null, address: string | dns.LookupAddress[], family?: number) => void;

/** Resolves a name for a connection, and refuses it when any of its addresses is not public. */
export function publicLookup(hostname: string, options: dns.LookupOptions, found: Found): void {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, []);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused !== undefined)
      return found(notPublic(`${hostname} is ${refused.address}, which`), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return found(null, addresses);
    return found(null, first.address, first.family);
  });
}

function notPublic(what: string): HostError {
  return new HostError("EPRIVATE", `${what} is not a public IP address`);
}
