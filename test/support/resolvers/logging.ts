import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Setting, unboundConf } from "./servers.ts";

type LogSetting = Pick<Setting, "folder" | "port" | "upstream">;

/** A resolver that writes every query to `queries.log` in its folder. */
export interface LoggingServer {
  /** What the program calls the log. */
  readonly format: string;
  /** A program that prints the log as text. */
  readonly printer?: string;
  start(setting: LogSetting): readonly string[];
}

function dnsmasq({ folder, port, upstream }: LogSetting, option: string): readonly string[] {
  return [
    "dnsmasq",
    "-k",
    "-p",
    String(port),
    "--listen-address=127.0.0.1",
    "--bind-interfaces",
    "--no-resolv",
    "--no-hosts",
    `--server=127.0.0.1#${upstream}`,
    "--cache-size=0",
    "--pid-file=",
    "--user=root",
    option,
    `--log-facility=${join(folder, "queries.log")}`,
  ];
}

function logOf({ folder }: LogSetting): string {
  return join(folder, "queries.log");
}

/** Large enough that no message is dropped. */
const DNSTAP_QUEUES = "fstrm-set-input-queue-size 16384;";

function bind(
  setting: LogSetting,
  options: string,
  logging: (log: string) => string,
): readonly string[] {
  const { folder, port, upstream } = setting;
  const conf = join(folder, "named.conf");
  writeFileSync(
    conf,
    `options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; };
 dnssec-validation no; max-cache-size 64m; ${options} };
${logging(logOf(setting))}
`,
  );
  return ["named", "-f", "-c", conf];
}

function unbound(setting: LogSetting, ...options: string[]): readonly string[] {
  const server = `server:\n  logfile: "${join(setting.folder, "queries.log")}"\n  ${options.join("\n  ")}`;
  return ["unbound", "-d", "-c", unboundConf(setting, "iterator", server)];
}

export const loggingServers: ReadonlyMap<string, LoggingServer> = new Map<string, LoggingServer>([
  ["dnsmasq", { format: "dnsmasq", start: (setting) => dnsmasq(setting, "--log-queries") }],
  [
    "dnsmasq with log-queries=extra",
    { format: "dnsmasq", start: (setting) => dnsmasq(setting, "--log-queries=extra") },
  ],
  ["unbound", { format: "unbound", start: (setting) => unbound(setting, "log-queries: yes") }],
  [
    "unbound with replies",
    { format: "unbound (replies)", start: (setting) => unbound(setting, "log-replies: yes") },
  ],
  [
    "unbound with both",
    {
      format: "unbound",
      start: (setting) =>
        unbound(setting, "log-queries: yes", "log-replies: yes", "log-tag-queryreply: yes"),
    },
  ],
  [
    "BIND",
    {
      format: "BIND",
      start: (setting) =>
        bind(
          setting,
          "querylog yes;",
          (
            log,
          ) => `logging { channel queries { file "${log}"; print-time yes; print-category yes; print-severity yes; };
 category queries { queries; }; };`,
        ),
    },
  ],
  [
    "BIND with dnstap",
    {
      format: "dnstap",
      printer: "dnstap-read",
      start: (setting) =>
        bind(
          setting,
          `dnstap { all; }; ${DNSTAP_QUEUES} dnstap-output file "${logOf(setting)}";`,
          () => "",
        ),
    },
  ],
  [
    "BIND with responses by dnstap",
    {
      format: "dnstap (responses)",
      printer: "dnstap-read",
      start: (setting) =>
        bind(
          setting,
          `dnstap { client response; }; ${DNSTAP_QUEUES} dnstap-output file "${logOf(setting)}";`,
          () => "",
        ),
    },
  ],
  [
    "dnsdist",
    {
      format: "dnsdist",
      start: ({ folder, port, upstream }) => {
        const conf = join(folder, "dnsdist.conf");
        writeFileSync(
          conf,
          `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
addAction(AllRule(), LogAction('${join(folder, "queries.log")}', false, false, false))
`,
        );
        return ["dnsdist", "--supervised", "--disable-syslog", "-C", conf];
      },
    },
  ],
]);
