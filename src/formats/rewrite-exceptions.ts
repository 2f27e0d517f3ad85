import { nameScope } from "../meaning/name-scope.ts";
import { type PlacedRule, RuleIndex } from "../meaning/rule-index.ts";
import type { Rule } from "../meaning/rule.ts";
import { cancelsRewrite } from "../meaning/verdict.ts";
import { withParents } from "../syntax/parents.ts";
import type { NameRule } from "./special-rule.ts";

/** Exceptions with `$dnsrewrite`. Those for a name and all below it limit rewrites of names, and all of them those of patterns. */
export class RewriteExceptions {
  private readonly all: Rule[] = [];
  private readonly index = new RuleIndex<PlacedRule>();
  /** Those for a name and all below it, by each parent of the name. */
  private readonly byParent = new Map<string, { readonly name: string; readonly rule: Rule }[]>();

  add(rule: Rule): void {
    this.all.push(rule);
    this.index.add({ ...rule, row: 0 });
    const name = subtreeNameOf(rule);
    if (name === undefined) return;
    for (const parent of withParents(name)) {
      const known = this.byParent.get(parent);
      if (known === undefined) this.byParent.set(parent, [{ name, rule }]);
      else known.push({ name, rule });
    }
  }

  /** What is left of a rewrite of a name; undefined if nothing is. */
  limitName(to: NameRule, rewrite: Rule): NameRule | undefined {
    if (this.all.length === 0) return to;
    const isCancelled = this.index
      .matching(to.name)
      .some((one) => subtreeNameOf(one) !== undefined && cancelsRewrite(one, rewrite));
    if (isCancelled) return undefined;
    const below = (this.byParent.get(to.name) ?? []).flatMap(({ name, rule }) =>
      cancelsRewrite(rule, rewrite) ? [name] : [],
    );
    return below.length === 0 ? to : { ...to, denied: [...to.denied, ...below] };
  }

  /** What is left of a rewrite of a pattern; undefined if nothing is. */
  limitPattern(rewrite: Rule): Rule | undefined {
    const against = this.all.filter((one) => cancelsRewrite(one, rewrite));
    if (against.length === 0) return rewrite;
    if (against.some(({ pattern, denied }) => pattern === rewrite.pattern && denied.length === 0))
      return undefined;
    const scopes = against.flatMap(({ pattern }) => nameScope(pattern)?.name ?? []);
    return {
      ...rewrite,
      denied: [...rewrite.denied, ...scopes],
      matches: (name) =>
        rewrite.matches(name) &&
        !this.index.matching(name).some((one) => cancelsRewrite(one, rewrite)),
    };
  }
}

function subtreeNameOf({ pattern, denied }: Rule): string | undefined {
  const scope = denied.length === 0 ? nameScope(pattern) : undefined;
  return scope?.self === true && scope.below ? scope.name : undefined;
}
