/** Names that a configuration may use freely; of the validators at most one may see a line. */
export const PLAIN_NAMES = [
  "ConvertToAscii",
  "TrimLines",
  "RemoveComments",
  "Compress",
  "RemoveModifiers",
  "InvertAllow",
  "Deduplicate",
  "RemoveEmptyLines",
  "InsertFinalNewLine",
] as const;

export const VALIDATOR_NAMES = [
  "Validate",
  "ValidateAllowIp",
  "ValidateAllowPublicSuffix",
  "ValidateAllowIpAndPublicSuffix",
] as const;
