/** What a list means for a name. */
export type Verdict = "blocked" | "allowed" | "rewritten" | "neither";

/** What counts when several rules match a name; `Rule` says what each of these means. */
interface Weight {
  readonly isAllow?: boolean;
  readonly isImportant?: boolean;
  readonly isPartial?: boolean;
  readonly rewrite?: string | undefined;
}

export interface Decision<R> {
  readonly verdict: Verdict;
  /** The rule that decides. */
  readonly by: R | undefined;
}

/**
 * Decides by the rules that match a name, in AdGuard's order: a changed answer that no exception takes back, an important
 * exception, an important block, an exception, a block. A rule for some clients or query types decides nothing for the others.
 * Lines that are nothing but a name come last: they block what no rule decides.
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
 * The first `$dnsrewrite` rule that counts. An exception with `$dnsrewrite` takes back all rewrites, or those with its value;
 * important ones only if it is important itself. An exception without `$dnsrewrite` takes back none.
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
