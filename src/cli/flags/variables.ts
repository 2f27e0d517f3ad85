/** Environment variables that the program reads. */
export const VARIABLES = [
  {
    name: "CONFIG_PATH",
    description: "Path of the configuration file, or of a folder with one",
    fallback: "compiler-config.json",
  },
  {
    name: "RULES_DIR",
    description: "Directory for compiled lists",
    fallback: "./rules",
  },
  { name: "DEBUG", description: "Debug output: `true` or `false`", fallback: "false" },
  {
    name: "RULESCOMPILER_Logging__LogLevel__Default",
    description: "Log level: Trace, Debug, Information, Warning, Error, Critical or None",
    fallback: "Information",
  },
  { name: "PORT", description: "Port of `serve` and `status`", fallback: "5000" },
  {
    name: "SERVE_TOKEN_FILE",
    description: "File with the token of `serve`",
    fallback: "",
  },
  {
    name: "SERVE_HOSTNAME",
    description: "Names of `serve` in the public DNS, separated by commas",
    fallback: "",
  },
  {
    name: "DNS_API_URL",
    description: "URL of the DNS API, for `limits`",
    fallback: "",
  },
  {
    name: "DNS_API_PATH",
    description: "Path of the limits endpoint",
    fallback: "/v1/limits",
  },
  {
    name: "DNSAPI_DnsApi__ApiKey_FILE",
    description: "File that holds the key of the DNS API; overrides the two variables below",
    fallback: "",
  },
  { name: "DNSAPI_DnsApi__ApiKey", description: "Key of the DNS API", fallback: "" },
  {
    name: "DNSAPI_API_KEY",
    description: "Key of the DNS API, if DNSAPI_DnsApi__ApiKey is not set",
    fallback: "",
  },
  { name: "HTTP_PROXY", description: "Proxy for lists at http: URLs", fallback: "" },
  {
    name: "HTTPS_PROXY",
    description: "Proxy for lists at https: URLs, and for the DNS API",
    fallback: "",
  },
  {
    name: "NO_PROXY",
    description: "Hosts that are contacted without a proxy, separated by commas",
    fallback: "",
  },
  {
    name: "TZ",
    description: "Time zone of the schedule of `serve`, such as Europe/Berlin",
    fallback: "",
  },
  { name: "NO_COLOR", description: "Any value disables colours", fallback: "" },
  {
    name: "SOURCE_DATE_EPOCH",
    description: "Unix time in seconds, written to the header instead of the current time",
    fallback: "",
  },
] as const;
