import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host, ListenAddress } from "../../host/host.ts";
import { Schedule } from "../../server/schedule.ts";
import type { Args } from "./args.ts";
import { durationOf } from "./duration-of.ts";
import type { FlagName } from "./flags.ts";

/** Options that only `serve` has. */
export interface ServeOptions {
  readonly listenOn: ListenAddress;
  readonly schedule: Schedule;
  readonly jitterMs: number;
  /** When a run that was not good is first repeated; 0 for never. */
  readonly retryMs: number;
  readonly maxAgeMs: number | undefined;
  readonly runTimeoutMs: number;
  /** The file of the token that requests must present. */
  readonly tokenFile: string | undefined;
}

const DEFAULT_PORT = 5000;
const DEFAULT_SCHEDULE = "0 */6 * * *";
const DEFAULT_JITTER = "5m";
const DEFAULT_RETRY = "1m";
const DEFAULT_RUN_TIMEOUT = "15m";
/** A browser opens six connections, a resolver one. */
const DEFAULT_CONNECTIONS = 64;

/** Throws a `CompilerError` for an invalid value. */
export function serveOptionsOf(args: Args, env: Host["env"]): ServeOptions {
  const value = (name: FlagName): string | undefined => args.values.get(name)?.[0];
  return {
    listenOn: {
      address: value("listen") ?? "127.0.0.1",
      port: portOf(args, env),
      connectionsPerClient: countOf("connections-per-client", value("connections-per-client")),
    },
    schedule: new Schedule(value("schedule") ?? DEFAULT_SCHEDULE, value("time-zone")),
    jitterMs: durationOf("jitter", value("jitter") ?? DEFAULT_JITTER),
    retryMs: durationOf("retry", value("retry") ?? DEFAULT_RETRY),
    runTimeoutMs: durationOf("run-timeout", value("run-timeout") ?? DEFAULT_RUN_TIMEOUT),
    tokenFile: value("token-file") ?? (env["SERVE_TOKEN_FILE"] || undefined),
    maxAgeMs: value("max-age") === undefined ? undefined : durationOf("max-age", value("max-age")!),
  };
}

/** The port of the server: `--port`, then `PORT`, so that a container's health check uses the same port as its server. */
export function portOf({ values }: Args, env: Host["env"]): number {
  const text = values.get("port")?.[0] ?? (env["PORT"] || String(DEFAULT_PORT));
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new CompilerError([
    errorOf("unknown-flag", `--port must be a number from 0 to 65535, not ${printable(text, 40)}`),
  ]);
}

function countOf(name: FlagName, text: string = String(DEFAULT_CONNECTIONS)): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new CompilerError([
    errorOf("unknown-flag", `--${name} must be 1 or more, not ${printable(text, 40)}`),
  ]);
}
