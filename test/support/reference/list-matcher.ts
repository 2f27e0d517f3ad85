import { asciiLabels, isAtOrBelow, withAncestors } from "./names.ts";
import { type NameTest, type Shape, nameTest } from "./name-test.ts";
import { rewriteValue } from "./rewrite-value.ts";
import { type Line, type Modifier, readLine } from "./rule-syntax.ts";

export type Meaning = "blocked" | "allowed" | "rewritten" | "neither";

/** A rule that counts: it is valid, and no `$badfilter` cancels it. */
export interface Rule {
  readonly text: string;
  /** Hosts lines and plain names come after all rules of adblock syntax. */
  readonly isHosts: boolean;
  readonly isAllow: boolean;
  readonly isImportant: boolean;
  /** For some clients or some kinds of questions only. */
  readonly isPartial: boolean;
  /** For some clients only. */
  readonly isForClients: boolean;
  /** Whether it is for a type of question of a client, which is an address or a tag. */
  readonly isFor: (type: string, client: string) => boolean;
  /** What it answers instead; "" disables rewrites. */
  readonly rewrite?: string;
  readonly shape: Shape;
  readonly host?: string;
  readonly denied: readonly string[];
  readonly matches: (name: string) => boolean;
}

export interface Decision {
  readonly meaning: Meaning;
  /** The rules that decide: any of them may be named as the reason. */
  readonly by: readonly Rule[];
}

const NOTHING: Decision = { meaning: "neither", by: [] };
const FOR_SOME = ["dnstype", "ctag", "client"];
const KNOWN = new Set(["important", "badfilter", "dnsrewrite", "denyallow", ...FOR_SOME]);

/**
 * What a list means for a name: the judge of all parts of the compiler, so it is written from the description of the
 * syntax, slowly and plainly, and shares nothing with them.
 */
export class ListMatcher {
  readonly rules: readonly Rule[];
  private readonly byHost = new Map<string, Rule[]>();
  private readonly others: Rule[] = [];
  private readonly decisions = new Map<string, Decision>();
  private allNames: Set<string> | undefined;
  private namedNames: Set<string> | undefined;

  /** Reads the lines as they are meant, or exactly. */
  constructor(lines: readonly string[], how: (line: string) => Line = readLine) {
    const read = lines.map(how);
    const cancelled = new Set(read.flatMap(cancelledKeys));
    this.rules = read.flatMap((line) => rulesOf(line, cancelled));
    for (const rule of this.rules)
      if (rule.host === undefined) this.others.push(rule);
      else {
        const known = this.byHost.get(rule.host);
        if (known === undefined) this.byHost.set(rule.host, [rule]);
        else known.push(rule);
      }
  }

  static of(text: string): ListMatcher {
    return new ListMatcher(text.split("\n"));
  }

  matching(name: string): Rule[] {
    const found: Rule[] = [];
    for (const host of withAncestors(name))
      for (const rule of this.byHost.get(host) ?? []) if (rule.matches(name)) found.push(rule);
    for (const rule of this.others) if (rule.matches(name)) found.push(rule);
    return found;
  }

  /** Remembered: many parts are asked about the same names. */
  decide(name: string): Decision {
    let decision = this.decisions.get(name);
    if (decision === undefined) this.decisions.set(name, (decision = this.decision(name)));
    return decision;
  }

  private decision(name: string): Decision {
    return this.among(this.matching(name).filter(({ isPartial }) => !isPartial));
  }

  /** What a client gets that asks a question of this type. */
  answer(name: string, type: string, client: string): Meaning {
    return this.among(this.matching(name).filter((rule) => rule.isFor(type, client))).meaning;
  }

  private among(matching: readonly Rule[]): Decision {
    if (matching.length === 0) return NOTHING;
    const rewrites = standingRewrites(matching.filter((rule) => rule.rewrite !== undefined));
    if (rewrites.length > 0) return { meaning: "rewritten", by: rewrites };
    const plain = matching.filter(({ rewrite, isHosts }) => rewrite === undefined && !isHosts);
    for (const isImportant of [true, false])
      for (const isAllow of [true, false]) {
        const by = plain.filter(
          (rule) => rule.isImportant === isImportant && rule.isAllow === isAllow,
        );
        if (by.length > 0) return { meaning: isAllow ? "allowed" : "blocked", by };
      }
    const hosts = matching.filter(({ isHosts }) => isHosts);
    if (hosts.length === 0) return NOTHING;
    const isRewritten = hosts.some(({ rewrite }) => rewrite !== undefined);
    return { meaning: isRewritten ? "rewritten" : "blocked", by: hosts };
  }

  meaning(name: string): Meaning {
    return this.decide(name).meaning;
  }

  isBlocked(name: string): boolean {
    return this.meaning(name) === "blocked";
  }

  /** Every name that a rule is for, or leaves out. */
  names(): ReadonlySet<string> {
    return (this.allNames ??= new Set(
      this.rules.flatMap(({ host, denied }) => (host === undefined ? denied : [host, ...denied])),
    ));
  }

  /** Names that a blocking rule names itself: formats that know no subtrees have these. */
  named(): ReadonlySet<string> {
    return (this.namedNames ??= new Set(
      this.rules.flatMap((rule) => (isNaming(rule) ? [rule.host!] : [])),
    ));
  }
}

function isNaming(rule: Rule): boolean {
  if (rule.isAllow || rule.isPartial || rule.rewrite !== undefined) return false;
  return rule.shape === "exact" || rule.shape === "subtree";
}

/** Rewrites that no exception disables: one without a value disables all, one with a value its like; both not the important. */
function standingRewrites(rules: readonly Rule[]): Rule[] {
  const exceptions = rules.filter(({ isAllow }) => isAllow);
  return rules.filter(
    (rule) =>
      !rule.isAllow &&
      !rule.isHosts &&
      !exceptions.some(
        (exception) =>
          (exception.isImportant || !rule.isImportant) &&
          (exception.rewrite === "" || exception.rewrite === rule.rewrite),
      ),
  );
}

/** The same pattern with the same modifiers, in whatever order. */
function keyOf(isAllow: boolean, pattern: string, modifiers: readonly Modifier[]): string {
  const parts = modifiers.map(({ name, value }) => `${name}=${value}`);
  return [isAllow ? "@@" : "", pattern, ...parts.toSorted()].join("\n");
}

function cancelledKeys(line: Line): string[] {
  if (line.kind !== "rule") return [];
  const rest = line.modifiers.filter(({ name }) => name !== "badfilter");
  return rest.length === line.modifiers.length ? [] : [keyOf(line.isAllow, line.pattern, rest)];
}

function rulesOf(line: Line, cancelled: ReadonlySet<string>): Rule[] {
  if (line.kind === "nothing") return [];
  if (line.kind === "hosts") return line.names.map((host) => hostsRule(line, host));
  const { text, isAllow, pattern, modifiers } = line;
  if (!modifiers.every(({ name }) => KNOWN.has(name))) return [];
  const has = (name: string): boolean => modifiers.some((one) => one.name === name);
  if (has("badfilter") || cancelled.has(keyOf(isAllow, pattern, modifiers))) return [];
  const test = nameTest(pattern);
  const denied = deniedBy(modifiers);
  const written = modifiers.find(({ name }) => name === "dnsrewrite")?.value;
  const rewrite = written === undefined ? undefined : rewriteValue(written);
  if (
    test === undefined ||
    denied === undefined ||
    (written !== undefined && rewrite === undefined)
  )
    return [];
  // What is for nearly everything is refused, unless something limits it.
  const isLimited = denied.length > 0 || FOR_SOME.some(has);
  if (pattern.length < 3 && !isLimited) return [];
  return [
    {
      text,
      isHosts: false,
      isAllow,
      isImportant: has("important"),
      isPartial: FOR_SOME.some(has),
      isForClients: has("client") || has("ctag"),
      isFor: (type, client) =>
        modifiers.every(({ name, value }) => {
          if (name === "dnstype") return isAmong(type, value);
          return (name !== "client" && name !== "ctag") || isAmong(client, value);
        }),
      ...(rewrite !== undefined && { rewrite }),
      ...test,
      denied,
      matches: leavingOut(test, denied),
    },
  ];
}

function hostsRule({ text, isSinkhole }: Line & { kind: "hosts" }, host: string): Rule {
  return {
    text,
    isHosts: true,
    isAllow: false,
    isImportant: false,
    isPartial: false,
    isForClients: false,
    isFor: () => true,
    ...(!isSinkhole && { rewrite: text.split(/\s/)[0]! }),
    shape: "exact",
    host,
    denied: [],
    matches: (name) => name === host,
  };
}

/** Values after `~` are left out; if there are others, only those count. */
function isAmong(one: string, value: string): boolean {
  const values = value.split("|");
  if (values.includes(`~${one}`)) return false;
  return values.includes(one) || values.every((other) => other.startsWith("~"));
}

function leavingOut(test: NameTest, denied: readonly string[]): (name: string) => boolean {
  if (denied.length === 0) return test.matches;
  return (name) => test.matches(name) && !denied.some((parent) => isAtOrBelow(name, parent));
}

/** Names outside of the rule, with all below them; undefined when they are invalid. */
function deniedBy(modifiers: readonly Modifier[]): readonly string[] | undefined {
  const values = modifiers.filter(({ name }) => name === "denyallow");
  const names = values.flatMap(({ value }) => asciiLabels(value).toLowerCase().split("|"));
  return names.every((name) => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name)) ? names : undefined;
}
