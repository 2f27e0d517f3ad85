import { isIpv4Text, isIpv6Text } from "../syntax/hosts-line.ts";

/** What a resolver answers for a name that it does not look up. */
export type Answer =
  /** The name does not exist, has a null address, has no address, or is refused. */
  | { readonly kind: "nxdomain" | "null" | "nodata" | "refused" }
  /** These addresses, and nothing for any other type of question. */
  | { readonly kind: "address"; readonly v4: readonly string[]; readonly v6: readonly string[] }
  /** Whatever is true of another name. */
  | { readonly kind: "cname"; readonly name: string };

const NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Addresses as an answer; undefined if one is not an address, or is for an interface. */
export function addressAnswer(addresses: readonly string[]): Answer | undefined {
  const v4 = addresses.filter((one) => isIpv4Text(one) && !/(?:^|\.)0\d/.test(one));
  const v6 = addresses.filter(isIpv6Text).map((one) => one.toLowerCase());
  if (v4.length + v6.length < addresses.length || addresses.length === 0) return undefined;
  return { kind: "address", v4: [...new Set(v4)], v6: [...new Set(v6)] };
}

/** A name as an answer; undefined if the text is invalid, or an action of policy zones. */
export function aliasAnswer(text: string): Answer | undefined {
  const name = text.toLowerCase().replace(/\.$/, "");
  const isAction = name.slice(name.lastIndexOf(".") + 1).startsWith("rpz-");
  return NAME.test(name) && !isAction ? { kind: "cname", name } : undefined;
}

/** The answer of a rewrite, as `Rule` spells it; undefined for those that no format can express, such as TXT records. */
export function rewrittenAnswer(rewrite: string): Answer | undefined {
  if (rewrite === "NXDOMAIN") return { kind: "nxdomain" };
  if (rewrite === "REFUSED") return { kind: "refused" };
  if (rewrite === "NOERROR") return { kind: "nodata" };
  const [type, value = ""] = rewrite.split(" ");
  if (type === "CNAME") return aliasAnswer(value);
  const answer = type === "A" || type === "AAAA" ? addressAnswer([value]) : undefined;
  const isOfType = answer?.kind === "address" && answer.v4.length > 0 === (type === "A");
  return isOfType ? answer : undefined;
}

/**
 * The answer of several rewrites of one name, in their order: the first name or response code decides, otherwise all addresses count.
 * Undefined if one of them has none.
 */
export function combinedAnswer(answers: readonly (Answer | undefined)[]): Answer | undefined {
  const v4: string[] = [];
  const v6: string[] = [];
  for (const answer of answers) {
    if (answer === undefined) return undefined;
    if (answer.kind === "address") {
      v4.push(...answer.v4);
      v6.push(...answer.v6);
    } else if (answer.kind !== "nodata") return answer;
  }
  return v4.length + v6.length === 0 ? { kind: "nodata" } : addressAnswer([...v4, ...v6]);
}

/** For a person: `192.0.2.10`, `page.example`, `NXDOMAIN`. */
export function answerText(answer: Answer): string {
  if (answer.kind === "address") return [...answer.v4, ...answer.v6].join(", ");
  return answer.kind === "cname" ? answer.name : answer.kind.toUpperCase();
}
