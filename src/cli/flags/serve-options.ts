import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import type { Host, ListenAddress } from "../../host/host.ts";
import { Schedule } from "../../server/runs.ts";
import type { FlagName } from "./flags.ts";
import { type Args, durationOf } from "./options.ts";

/** Options that only `serve` has. */
export interface ServeOptions {
  readonly listenOn: ListenAddress;
  readonly schedule: Schedule;
  readonly jitterMs: number;
  /** When a run that was not good is first repeated. */
  readonly retryMs: number;
  readonly runTimeoutMs: number;
  /** The file of the token that requests must present. */
  readonly tokenFile: string | undefined;
  /** The host names that the server has in the public DNS. */
  readonly hostNames: readonly string[];
}

const DEFAULT_PORT = 5000;
const DEFAULT_SCHEDULE = "0 */6 * * *";
/** At most so much later than the schedule, so that servers do not all ask at once. */
const JITTER_MS = 300_000;
const RETRY_MS = 60_000;
const DEFAULT_RUN_TIMEOUT = "15m";
/** A browser opens six connections, a resolver one. */
const CONNECTIONS = 64;

/** Throws a `CompilerError` for an invalid value. */
export function serveOptionsOf(args: Args, env: Host["env"]): ServeOptions {
  const value = (name: FlagName): string | undefined => args.values.get(name)?.[0];
  return {
    listenOn: {
      address: value("listen") ?? "127.0.0.1",
      port: portOf(args, env),
      connectionsPerClient: CONNECTIONS,
    },
    schedule: new Schedule(value("schedule") ?? DEFAULT_SCHEDULE),
    jitterMs: JITTER_MS,
    retryMs: RETRY_MS,
    runTimeoutMs: durationOf("run-timeout", value("run-timeout") ?? DEFAULT_RUN_TIMEOUT),
    tokenFile: value("token-file") ?? (env["SERVE_TOKEN_FILE"] || undefined),
    hostNames: hostNamesOf(env["SERVE_HOSTNAME"] ?? ""),
  };
}

/** Names may be separated by commas. Throws a `CompilerError`. */
function hostNamesOf(text: string): string[] {
  const names = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => name !== "");
  const bad = names.find((name) => !/^[\w-]+(?:\.[\w-]+)*$/.test(name));
  if (bad === undefined) return names;
  throw new CompilerError([
    errorOf(
      "wrong-usage",
      `SERVE_HOSTNAME must be a name such as lists.example.org, not ${printable(bad, 60)}`,
    ),
  ]);
}

/** The port of the server: `--port`, then `PORT`, so that a container's health check uses the same port as its server. */
export function portOf({ values }: Args, env: Host["env"]): number {
  const text = values.get("port")?.[0] ?? (env["PORT"] || String(DEFAULT_PORT));
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new CompilerError([
    errorOf("wrong-usage", `--port must be a number from 0 to 65535, not ${printable(text, 40)}`, {
      hint: "Such as: --port 8080",
    }),
  ]);
}
