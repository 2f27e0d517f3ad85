import type { AccountLimits } from "../documents/facts.ts";
import type { Host } from "../host/host.ts";
import { nodeHost } from "../host/node.ts";
import {
  type ApiKey,
  type DnsApiSettings,
  fetchAccountLimits,
  loadApiKey,
} from "./account-limits.ts";

export type { DnsApiSettings } from "./account-limits.ts";
export { ApiKey } from "./account-limits.ts";
export { CompilerError, type Diagnostic } from "../diagnostics/render.ts";

/** Requests the limits of the account and their use. Rejects with a `CompilerError` that has a hint. */
export function accountLimits(
  settings: DnsApiSettings,
  host: Host = nodeHost(),
): Promise<AccountLimits> {
  return fetchAccountLimits(settings, host);
}

/** Reads the key from `DNSAPI_DnsApi__ApiKey_FILE`, `DNSAPI_DnsApi__ApiKey` or `DNSAPI_API_KEY`, in this order. */
export function readApiKey(host: Host = nodeHost()): Promise<ApiKey> {
  return loadApiKey(host);
}
