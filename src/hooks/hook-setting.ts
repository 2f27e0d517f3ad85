import type { Host } from "../host/host.ts";

/** Where and how long a hook runs. */
export interface HookSetting {
  readonly host: Host;
  /** The folder of the configuration, where its relative paths start. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}
