import { type Answer, combinedAnswer } from "../meaning/answer.ts";
import { type PlacedRule, RuleIndex, nameScope } from "../meaning/rule-index.ts";
import { type Rule, isBelow } from "../meaning/rule.ts";
import { cancelsRewrite } from "../meaning/verdict.ts";
import { withParents } from "../syntax/public-suffix.ts";
import type { NameRule, Rewrite } from "./special-rule.ts";

/** A rewrite of a name, or of all names below it. */
interface NamedRewrite extends Pick<NameRule, "self" | "below" | "denied"> {
  readonly text: string;
  readonly answer: Answer | undefined;
  readonly order: number;
}

/** What the list answers for a name and for the unknown names below it. */
export interface NameAnswers {
  readonly self: Answer | undefined;
  readonly below: Answer | undefined;
  /** The rules for this very name that count. */
  readonly own: readonly Pick<NamedRewrite, "text" | "self" | "below">[];
}

/** The answers that a list has for names, from `$dnsrewrite` rules and hosts lines with addresses. */
export class NamedRewrites {
  private readonly byName = new Map<string, NamedRewrite[]>();
  /** Addresses from hosts lines, which count for a name that no rule decides about. */
  private readonly hosts = new Map<string, NamedRewrite[]>();
  /** Rewrites without a name, which count for the names that are rewritten anyway. */
  private readonly patterns: (Pick<NamedRewrite, "answer" | "order"> & Pick<Rule, "matches">)[] =
    [];
  private order = 0;

  get isEmpty(): boolean {
    return this.byName.size + this.hosts.size === 0;
  }

  add({ name, self, below, denied }: NameRule, text: string, answer: Answer | undefined): void {
    this.enter(this.byName, name, { text, answer, self, below, denied });
  }

  addPattern({ matches }: Rule, answer: Answer | undefined): void {
    this.patterns.push({ matches, answer, order: this.order++ });
  }

  addHosts(name: string, text: string, answer: Answer | undefined): void {
    this.enter(this.hosts, name, { text, answer, self: true, below: false, denied: [] });
  }

  private enter(
    map: Map<string, NamedRewrite[]>,
    name: string,
    rewrite: Omit<NamedRewrite, "order">,
  ): void {
    const one = { ...rewrite, order: this.order++ };
    const known = map.get(name);
    if (known === undefined) map.set(name, [one]);
    else known.push(one);
  }

  /** Undefined if it has none. `isOpen`: whether no rule but a hosts line can decide about the name. */
  of(name: string, isOpen: () => boolean): NameAnswers | undefined {
    if (this.isEmpty) return undefined;
    const self: NamedRewrite[] = [];
    const below: NamedRewrite[] = [];
    for (const parent of this.byName.size === 0 ? [] : withParents(name))
      for (const rewrite of this.byName.get(parent) ?? []) {
        if (rewrite.denied.some((one) => isBelow(name, one))) continue;
        if (parent === name ? rewrite.self : rewrite.below) self.push(rewrite);
        if (rewrite.below) below.push(rewrite);
      }
    const addresses = this.hosts.get(name);
    const hosts = addresses !== undefined && self.length === 0 && isOpen() ? addresses : [];
    const own = [...(this.byName.get(name) ?? []), ...hosts];
    if (self.length + below.length + own.length === 0) return undefined;
    const named = [...self, ...hosts];
    const others = named.length === 0 ? [] : this.patterns.filter((one) => one.matches(name));
    return {
      self: answerOf(name, [...named, ...others]),
      below: answerOf(undefined, below),
      own,
    };
  }
}

/** A name that is rewritten to itself is left to the resolver. */
function answerOf(
  name: string | undefined,
  rewrites: readonly Pick<NamedRewrite, "answer" | "order">[],
): Answer | undefined {
  if (rewrites.length === 0) return undefined;
  const inOrder = rewrites.toSorted((a, b) => a.order - b.order);
  const answer = combinedAnswer(inOrder.map((one) => one.answer));
  return answer?.kind === "cname" && answer.name === name ? undefined : answer;
}

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

  /** Whether an exception that `limitName` cannot take into account may cancel a rewrite for some names. */
  mayLimit({ name, below }: NameRule, rewrite: Rule): boolean {
    return this.all.some((one) => {
      if (subtreeNameOf(one) !== undefined || !cancelsRewrite(one, rewrite)) return false;
      const scope = nameScope(one.pattern)?.name;
      if (scope === undefined) return true;
      return isBelow(name, scope) || (below && isBelow(scope, name));
    });
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

/** Whether a rewrite is for names, or an exception that only such rewrites know. */
export function isNameRewrite({ rule, name }: Pick<Rewrite, "rule" | "name">): boolean {
  return name !== undefined && (!rule.isAllow || subtreeNameOf(rule) !== undefined);
}

/** The name of a rule that is for a name and everything below it. */
function subtreeNameOf({ pattern, denied }: Rule): string | undefined {
  const scope = denied.length === 0 ? nameScope(pattern) : undefined;
  return scope?.self === true && scope.below ? scope.name : undefined;
}
