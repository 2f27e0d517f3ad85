import type { FeedSettings } from "../feeds/feed-settings.ts";
import type { KeyFiles } from "../sources/request-headers.ts";
import { digestOf } from "../sources/source-store.ts";

/** What a file of names is for. */
export type FileRole = "allow" | "exclusions" | "inclusions" | "protect" | "ranks";

/** What decides which lines an address gives. */
export interface SourceReading {
  readonly feed?: FeedSettings | undefined;
  readonly member?: string | undefined;
  readonly keyFiles?: KeyFiles | undefined;
  /** Public keys, one of which must have signed it. A copy that was stored without them is not a copy of it. */
  readonly signers?: readonly string[] | undefined;
}

/** The name of a source in the store, the lock and the record: one address may give several texts. */
export function storeKeyOf(address: string, wish: SourceReading): string {
  const { feed, member, keyFiles, signers } = wish;
  const hasKeys = Object.values(keyFiles ?? {}).some((file) => file !== undefined);
  const signed = signers && { signers: signers.toSorted() };
  const all = [feed, member, hasKeys ? keyFiles : undefined, signed];
  const reading = all.filter((one) => one !== undefined);
  return reading.length === 0 ? address : `${address} ${JSON.stringify(reading)}`;
}

/** The name of a source or of a file of names in the ledger: a digest, because addresses may contain secrets. */
export async function ledgerKeyOf(
  source: SourceReading & { readonly source: string; readonly role?: FileRole | undefined },
): Promise<string> {
  const { role } = source;
  const key = storeKeyOf(source.source, source);
  return (await digestOf(role === undefined ? key : `${role} ${key}`)).slice(0, 32);
}
