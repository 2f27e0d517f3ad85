import type { Host } from "../host/host.ts";
import { nodeHost } from "../host/node.ts";
import {
  type AccountLimits,
  type DnsApiSettings,
  accountLimits as askLimits,
} from "./account-limits.ts";
import { type ApiKey, readApiKey as readKey } from "./api-key.ts";

export type { AccountLimit, AccountLimits, DnsApiSettings } from "./account-limits.ts";
export { ApiKey } from "./api-key.ts";
export { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";

/** What the account may use and has used. Rejects with a `CompilerError` that says what to do. */
export function accountLimits(
  settings: DnsApiSettings,
  host: Host = nodeHost(),
): Promise<AccountLimits> {
  return askLimits(settings, host);
}

/** The key from `DNSAPI_DnsApi__ApiKey_FILE`, `DNSAPI_DnsApi__ApiKey` or `DNSAPI_API_KEY`, in this order. */
export function readApiKey(host: Host = nodeHost()): Promise<ApiKey> {
  return readKey(host);
}
