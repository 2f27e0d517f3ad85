/** Fields of an entry of `after`. `hooks/reload-presets.ts` and `hooks/post-message.ts` have an entry for each value. */
export const HOOK_FIELDS = {
  run: {
    type: "strings",
    description:
      "A program and its arguments. No shell is involved. The program is an absolute path or a name in `PATH`.",
    example: ["/usr/local/bin/on-publish", "--quiet"],
  },
  post: {
    type: "string",
    description:
      "Sends a message: the path of a file that holds the URL, which is a secret. See [hooks](../guide/hooks.md#send-a-message) for services.",
    example: "/etc/rules-compiler/webhook",
  },
  as: {
    type: "choice",
    values: ["json", "slack", "discord", "ntfy", "telegram", "healthchecks"],
    description:
      "For `post`: the form of the message. Default: that of the service for the hosts of Slack, Discord, Telegram and ntfy.sh, otherwise `json`, that is everything that `run` receives. `healthchecks` receives a message after every run, without `on`.",
  },
  reload: {
    type: "choice",
    values: [
      "unbound",
      "bind",
      "knot-resolver",
      "knot-resolver-5",
      "powerdns-recursor",
      "dnsdist",
      "dnsmasq",
      "smartdns",
      "adguard-home",
      "pi-hole",
      "technitium",
    ],
    description:
      "Makes a resolver read its list again. `knot-resolver` is version 6, `pi-hole` version 6; see [hooks](../guide/hooks.md) for what each does.",
  },
  with: {
    type: "strings",
    description:
      "For `reload`: options of the control program, placed before its command, such as `-c` and a configuration file.",
    example: ["-c", "/etc/unbound/other.conf"],
  },
  pid_file: {
    type: "string",
    description: "For `reload: dnsmasq`: its PID file. Default: `/run/dnsmasq/dnsmasq.pid`.",
    example: "/run/dnsmasq.pid",
  },
  url: {
    type: "string",
    description:
      "For `reload` of AdGuard Home, Pi-hole and Technitium: the URL of the web interface. It must be https, except for this machine and private addresses.",
    example: "http://192.168.1.2:3000",
  },
  user: {
    type: "string",
    description: "For `reload: adguard-home`: the user name.",
    example: "admin",
  },
  token_file: {
    type: "string",
    description:
      "File that holds a token: for `post`, which sends it as `Authorization: Bearer`, or for `reload` by API, the password (AdGuard Home, Pi-hole) or API token (Technitium).",
    example: "/etc/rules-compiler/adguard-home",
  },
  on: {
    type: "choices",
    values: ["published", "refused", "degraded", "recovered", "failed"],
    description:
      "When it runs: `published` (files changed), `refused` (by a guard), `degraded` (a source failed and was skipped or replaced by its last good copy), `recovered` (the first good run afterwards), `failed`. All but `published` only when this state begins. Default: `published`.",
    example: ["refused", "failed", "recovered"],
  },
  timeout: {
    type: "duration",
    description:
      "How long it may take, at most `1h`. A program is then ended with all processes that it started. Default: `60s`.",
    example: "10s",
  },
} as const;

/** What a hook can follow. */
export type HookEvent = (typeof HOOK_FIELDS.on.values)[number];
/** Services whose documented form of a message `post` can send. */
export type PostForm = (typeof HOOK_FIELDS.as.values)[number];
/** Resolvers that `reload` knows. */
export type ReloadName = (typeof HOOK_FIELDS.reload.values)[number];
