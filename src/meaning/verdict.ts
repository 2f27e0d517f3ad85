/** The effect of a list on a name. */
export type Verdict = "blocked" | "allowed" | "rewritten" | "neither";

/** The properties that decide between matching rules; see `Rule`. */
interface Weight {
  readonly isAllow?: boolean;
  readonly isImportant?: boolean;
  readonly isPartial?: boolean;
  readonly rewrite?: string | undefined;
}

export interface Decision<R> {
  readonly verdict: Verdict;
  /** The deciding rule. */
  readonly by: R | undefined;
}

/**
 * Decides between the rules that match a name, in AdGuard's order: a rewrite that no exception cancels, an important
 * exception, an important block, an exception, a block. A rule for some clients or query types does not decide for the others.
 * Lines that are plain names come last: they block names that no rule decides.
 */
export function decide<R extends Weight>(matching: readonly R[]): Decision<R> {
  const whole = matching.filter(({ isPartial }) => isPartial !== true);
  const rewrite = liveRewrite(whole);
  if (rewrite !== undefined) return { verdict: "rewritten", by: rewrite };
  const by = strongest(whole.filter((rule) => rule.rewrite === undefined));
  if (by === undefined) return { verdict: "neither", by };
  return { verdict: by.isAllow ? "allowed" : "blocked", by };
}

/**
 * The first `$dnsrewrite` rule that applies. An exception with `$dnsrewrite` cancels all rewrites, or those with its value;
 * important ones only if it is important itself. An exception without `$dnsrewrite` cancels no rewrites.
 */
export function liveRewrite<R extends Weight>(rules: readonly R[]): R | undefined {
  const exceptions = rules.filter(
    ({ rewrite, isAllow }) => rewrite !== undefined && isAllow === true,
  );
  return rules.find(
    ({ rewrite, isAllow, isImportant }) =>
      rewrite !== undefined &&
      isAllow !== true &&
      !exceptions.some(
        (one) =>
          (one.isImportant === true || isImportant !== true) &&
          (one.rewrite === "" || one.rewrite === rewrite),
      ),
  );
}

export function strongest<R extends Weight>(rules: readonly R[]): R | undefined {
  return (
    rules.find((rule) => rule.isAllow && rule.isImportant) ??
    rules.find((rule) => rule.isImportant) ??
    rules.find((rule) => rule.isAllow) ??
    rules[0]
  );
}
