/** Diagnostics of `serve`, and of asking a DNS provider's API; `codes.ts` has all of them. */
export const SERVER_CODES = {
  "bad-schedule": {
    exit: 2,
    meaning:
      "The schedule or the time zone of `serve` means nothing, or names no moment that ever comes.",
    hint: "Five fields: minute, hour, day, month, weekday, such as 0 */6 * * *; a zone such as Europe/Berlin",
  },
  "listen-failed": {
    exit: 6,
    meaning: "The address or port to listen on is not to be had.",
    hint: "Another program may have it; choose another with --port and --listen",
  },
  "run-timeout": {
    meaning:
      "A run of `serve` took longer than `--run-timeout` and was ended. The last good list is still served, and the schedule goes on.",
    hint: "Look at what the run said before, compile by hand with --debug to see what takes so long, or raise --run-timeout",
  },
  "health-failed": {
    exit: 11,
    meaning: "The server that `health` asked is not healthy, or does not answer.",
    hint: "Look at the reason, at the status page and at the log of the server",
  },
  "api-key-missing": {
    exit: 2,
    meaning: "There is no key for the DNS API, or it is not one, or it is given twice.",
    hint: "Put it into a file and name the file in DNSAPI_DnsApi__ApiKey_FILE; DNSAPI_DnsApi__ApiKey and DNSAPI_API_KEY are read too",
  },
  "api-address": {
    exit: 2,
    meaning: "There is no address of the DNS API, or a key may not be sent there.",
    hint: "Set DNS_API_URL or --dns-api-url to an https address; http is for this machine only",
  },
  "api-unreachable": {
    exit: 8,
    meaning: "The DNS API did not answer as it should.",
    hint: "Check the key, the address, the network and the proxy settings",
  },
  "api-key-refused": {
    exit: 8,
    meaning: "The DNS API does not take the key.",
    hint: "Generate a new key in the provider's dashboard and put it in the place of the old one",
  },
  "api-busy": {
    exit: 8,
    meaning:
      "The DNS API answers with 429 again and again, or wants a longer wait than one minute.",
    hint: "Wait before the next try",
  },
  "list-does-not-fit": {
    exit: 5,
    meaning: "The list has more rules than the account has left.",
    hint: "Leave sources out, compress the list, or ask the provider for more",
  },
} as const;
