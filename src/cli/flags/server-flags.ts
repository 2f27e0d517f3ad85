/** The options of a server, and of commands that ask one. */
export const SERVER_FLAGS = [
  {
    name: "schedule",
    value: "CRON",
    only: ["serve"],
    description: "When to compile, as a cron expression (default: 0 */6 * * *)",
  },
  {
    name: "time-zone",
    value: "ZONE",
    only: ["serve"],
    description: "Time zone of the schedule, such as Europe/Berlin (default: the system time zone)",
  },
  {
    name: "jitter",
    value: "TIME",
    only: ["serve"],
    description: "Delay each run by a random time up to this (default: 5m)",
  },
  {
    name: "retry",
    value: "TIME",
    only: ["serve"],
    description:
      "Repeat a run after this time if it failed, used a copy of a source or left a resolver unproved; each further time after twice as long, up to half of the interval; 0 never repeats (default: 1m)",
  },
  {
    name: "port",
    value: "PORT",
    only: ["serve", "status"],
    description: "Port of the server (default: PORT, or 5000)",
  },
  {
    name: "listen",
    value: "ADDRESS",
    only: ["serve"],
    description: "Address to listen on; 0.0.0.0 or :: for all (default: 127.0.0.1)",
  },
  {
    name: "max-age",
    value: "TIME",
    only: ["serve"],
    description:
      "Report unhealthy when the last good list is older than this (default: three times the interval of the schedule)",
  },
  {
    name: "run-timeout",
    value: "TIME",
    only: ["serve"],
    description: "Stop a run that takes longer than this; 0 disables the limit (default: 15m)",
  },
  {
    name: "connections-per-client",
    value: "COUNT",
    only: ["serve"],
    description:
      "Maximum connections per client address; beyond it, the slowest is closed (default: 64)",
  },
  {
    name: "token-file",
    value: "FILE",
    only: ["serve"],
    description:
      "File with the token that POST requests must present; without it, only local processes may send them (default: SERVE_TOKEN_FILE)",
  },
] as const;
