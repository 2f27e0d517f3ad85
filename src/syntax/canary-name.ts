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

/** The build in the name of a canary: twelve hexadecimal digits. */
export function buildOf(canary: string): string {
  return canary.slice(2, 2 + DIGITS);
}
