import { ADDRESS_TYPES, type Rule } from "./rule.ts";

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
  return decideAmong(matching.filter(({ isPartial }) => isPartial !== true));
}

/** The same for rules that apply to all clients and questions. */
export function decideAmong<R extends Weight>(whole: readonly R[]): Decision<R> {
  const rewrite = liveRewrite(whole);
  if (rewrite !== undefined) return { verdict: "rewritten", by: rewrite };
  const by = strongest(whole.filter((rule) => rule.rewrite === undefined));
  if (by === undefined) return { verdict: "neither", by };
  return { verdict: by.isAllow ? "allowed" : "blocked", by };
}

/** Who cannot reach a name. */
export interface Blocking<R> {
  /** A rule that blocks it. */
  readonly by: R;
  /** Whether no client gets an address. Otherwise some clients, or some types of questions, are blocked. */
  readonly isForAll: boolean;
}

type Reach = Weight & Partial<Pick<Rule, "isForSomeClients" | "addressTypes">>;

/**
 * Whether rules block or rewrite a name: a question for an address, of any client. Rules for other questions, such as
 * `$dnstype=TXT`, do not. `plain` is the line that is only this name or a parent, if there is one. Which clients a rule is for
 * is not known: a block for some counts, and an exception for some does not, but the opposite holds for `isForAll`.
 */
export function blockingOf<R extends Reach>(
  matching: readonly R[],
  plain: R | undefined,
): Blocking<R> | undefined {
  // The common case.
  if (matching.length === 0) return plain && { by: plain, isForAll: true };
  const deciding = (type: (typeof ADDRESS_TYPES)[number], isForAll: boolean): R | undefined => {
    const { by = plain, verdict } = decideAmong(
      matching.filter(
        ({ addressTypes = ADDRESS_TYPES, isForSomeClients = false, isAllow = false }) =>
          addressTypes.includes(type) && !(isForSomeClients && isAllow !== isForAll),
      ),
    );
    return verdict === "allowed" ? undefined : by;
  };
  const rules = ADDRESS_TYPES.map((type) => deciding(type, false));
  const by = rules.find((rule) => rule !== undefined);
  if (by === undefined) return undefined;
  return {
    by,
    isForAll: deciding("A", true) !== undefined && deciding("AAAA", true) !== undefined,
  };
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
      !exceptions.some((one) =>
        cancelsRewrite(one, { rewrite, isImportant: isImportant === true }),
      ),
  );
}

/** Whether an exception with `$dnsrewrite` cancels a rewrite, for names that both match. */
export function cancelsRewrite(
  exception: Weight,
  { rewrite, isImportant }: Pick<Weight, "rewrite" | "isImportant">,
): boolean {
  if (exception.isAllow !== true || exception.rewrite === undefined) return false;
  if (isImportant === true && exception.isImportant !== true) return false;
  return exception.rewrite === "" || exception.rewrite === rewrite;
}

export function strongest<R extends Weight>(rules: readonly R[]): R | undefined {
  return (
    rules.find((rule) => rule.isAllow && rule.isImportant) ??
    rules.find((rule) => rule.isImportant) ??
    rules.find((rule) => rule.isAllow) ??
    rules[0]
  );
}
