/** Diagnostics of `serve` and of the DNS API. */
export const SERVER_CODES = {
  "bad-schedule": {
    exit: 2,
    meaning: "The schedule or time zone of `serve` is invalid, or the schedule never fires.",
    hint: "Five fields: minute, hour, day, month, weekday, such as 0 */6 * * *; a zone such as Europe/Berlin",
  },
  "listen-failed": {
    exit: 6,
    meaning: "The address or port is in use or not available.",
    hint: "Stop the other program, or choose another with --port and --listen",
  },
  "bad-token-file": {
    exit: 2,
    meaning:
      "The token file of `serve` cannot be read, can be read by other users, or contains no token.",
    hint: "Write a random token into a file of your own: (umask 077; openssl rand -hex 32 > token)",
  },
  "run-timeout": {
    meaning:
      "A run of `serve` exceeded `--run-timeout` and was stopped. The last good list is still served, and the schedule continues.",
    hint: "Check the log of the run, compile manually with --debug to find what takes so long, or raise --run-timeout",
  },
  "health-failed": {
    exit: 11,
    meaning: "The server is unhealthy or does not respond.",
    hint: "Check the reason, the status page and the log of the server",
  },
  "api-key-missing": {
    exit: 2,
    meaning: "The key for the DNS API is missing, invalid or set twice.",
    hint: "Write the key to a file and set DNSAPI_DnsApi__ApiKey_FILE to its path; DNSAPI_DnsApi__ApiKey and DNSAPI_API_KEY work too",
  },
  "api-address": {
    exit: 2,
    meaning: "The URL of the DNS API is missing, or the key must not be sent to it.",
    hint: "Set DNS_API_URL to an https URL; http is permitted only for this machine",
  },
  "api-unreachable": {
    exit: 8,
    meaning: "The DNS API did not respond, or its response is invalid.",
    hint: "Check the key, the URL, the network and the proxy settings",
  },
  "api-key-refused": {
    exit: 8,
    meaning: "The DNS API rejected the key.",
    hint: "Generate a new key in the provider's dashboard and replace the old one",
  },
  "api-busy": {
    exit: 8,
    meaning: "The DNS API keeps responding with 429, or asks for a delay of more than one minute.",
    hint: "Wait before you retry",
  },
  "list-does-not-fit": {
    exit: 5,
    meaning: "The list has more rules than the account has available.",
    hint: "Remove sources, compress the list, or ask the provider for a higher limit",
  },
} as const;
