import { isIP } from "node:net";

/**
 * What a `$dnsrewrite` answers, in one spelling: two spellings of the same answer are the same rewrite. "" for one without
 * a value; undefined for a value that is invalid, which makes the whole rule invalid.
 */
export function rewriteValue(value: string): string | undefined {
  if (value === "") return "";
  const parts = value.split(";");
  if (parts.length === 1) return shortForm(value);
  if (parts.length !== 3) return undefined;
  const [code = "", type = "", answer = ""] = parts;
  const rcode = code.toUpperCase();
  if (!/^[A-Z]+$/.test(rcode)) return undefined;
  if (rcode !== "NOERROR" || (type === "" && answer === "")) return rcode;
  return `${type.toUpperCase()} ${answer}`;
}

function shortForm(value: string): string | undefined {
  if (/^[A-Z]+$/.test(value))
    return ["NOERROR", "SERVFAIL", "NXDOMAIN", "REFUSED"].includes(value) ? value : undefined;
  const version = isIP(value);
  if (version > 0) return `${version === 4 ? "A" : "AAAA"} ${value}`;
  return /^[\w-]+(?:\.[\w-]+)*$/.test(value) ? `CNAME ${value}` : undefined;
}
