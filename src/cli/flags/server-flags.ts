/** The options of a server, and of commands that ask one. */
export const SERVER_FLAGS = [
  {
    name: "schedule",
    value: "CRON",
    only: ["serve"],
    description:
      "When to compile, as a cron expression in the time zone of TZ (default: 0 */6 * * *)",
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
    name: "run-timeout",
    value: "TIME",
    only: ["serve"],
    description: "Stop a run that takes longer than this; 0 disables the limit (default: 15m)",
  },
  {
    name: "token-file",
    value: "FILE",
    only: ["serve"],
    description:
      "File with the token that POST requests must present (default: SERVE_TOKEN_FILE, or a new token in the cache folder)",
  },
] as const;
