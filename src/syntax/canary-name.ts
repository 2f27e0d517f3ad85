/**
 * A canary is an unused name. A list blocks it to show which build a resolver answers from. `example` is reserved, so
 * the name exists nowhere. Unlike `invalid` and `test`, resolvers do not treat it specially (RFC 6761): unbound answers for
 * `invalid` before it looks at a policy zone.
 */
export const CANARY_SUFFIX = "canary.rules-compiler.example";

const DIGITS = 12;
const NAME = /\bb-(?<build>[\da-f]{12})\.canary\.rules-compiler\.example\b/g;

/** The canary of a build, from a digest of its rules in hexadecimal. */
export function canaryName(digest: string): string {
  return `b-${digest.slice(0, DIGITS)}.${CANARY_SUFFIX}`;
}

/** The last canary in a text. A list that was made from other lists may contain theirs. */
export function canaryIn(text: string): string | undefined {
  return [...text.matchAll(NAME)].at(-1)?.[0];
}

/** Whether a rule of a list is its canary, or that of a list that it was made from. Comparisons ignore these: they concern no name in use. */
export function isCanaryRule(text: string): boolean {
  if (!text.endsWith(CANARY_SUFFIX) && !text.endsWith(`${CANARY_SUFFIX}^`)) return false;
  const name = canaryIn(text);
  return name !== undefined && (text === `||${name}^` || text === `0.0.0.0 ${name}`);
}

const PARENTS: ReadonlySet<string> = new Set(["example", "rules-compiler.example"]);

/** Whether a name in lower case belongs to canaries: it is one, it is beside one, or a rule for it and its subdomains would match one. */
export function isReservedName(name: string): boolean {
  const bare = name.replace(/\.$/, "");
  return bare === CANARY_SUFFIX || bare.endsWith(`.${CANARY_SUFFIX}`) || PARENTS.has(bare);
}

/** Whether a pattern spells the suffix out. */
export function namesCanaries(pattern: string): boolean {
  return pattern.replaceAll("\\", "").toLowerCase().includes(CANARY_SUFFIX);
}

/** Names as resolvers are asked for, to test patterns with: all digits occur in all places. */
export function canarySamples(): string[] {
  const samples = [CANARY_SUFFIX];
  for (let digit = 0; digit < 16; digit++) {
    const digits = Array.from({ length: DIGITS }, (_, at) => ((digit + at * 7) % 16).toString(16));
    const hex = digits.join("");
    for (const start of ["b-", "c-"]) samples.push(`${start}${hex}.${CANARY_SUFFIX}`);
    samples.push(`${hex.slice(0, 8)}.b-${hex}.${CANARY_SUFFIX}`);
  }
  return samples;
}

/** The build in the name of a canary: twelve hexadecimal digits. */
export function buildOf(canary: string): string {
  return canary.slice(2, 2 + DIGITS);
}
