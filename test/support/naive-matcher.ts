/**
 * What a list means for a name, as slowly and plainly as can be: written from the description of the syntax, without
 * anything of the compiler's. Precedence: `$badfilter` removes; then an important exception, an important block, an
 * exception, a block.
 */
export interface NaiveRule {
  readonly text: string;
  readonly isAllow: boolean;
  readonly isImportant: boolean;
  readonly matches: (name: string) => boolean;
}

export function naiveRules(lines: readonly string[]): NaiveRule[] {
  const rules: NaiveRule[] = [];
  const cancelled = new Set<string>();
  for (const line of lines) {
    const text = line.trim();
    if (text === "" || text.startsWith("!") || text.startsWith("#")) continue;
    const hosts = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(?<names>[^#]+)/.exec(text)?.groups?.[
      "names"
    ];
    if (hosts !== undefined) {
      const names = hosts.trim().toLowerCase().split(/\s+/);
      rules.push({
        text,
        isAllow: false,
        isImportant: false,
        matches: (name) => names.includes(name),
      });
      continue;
    }
    const isAllow = text.startsWith("@@");
    const body = isAllow ? text.slice(2) : text;
    const isRegex = /^\/.*\/(?:\$[a-z,=.|~0-9-]+)?$/.test(body);
    const dollar = isRegex
      ? /\/\$[a-z,=.|~0-9-]+$/.exec(body)?.index === undefined || body.endsWith("/")
        ? -1
        : body.lastIndexOf("/$") + 1
      : body.lastIndexOf("$");
    const pattern = dollar > 0 ? body.slice(0, dollar) : body;
    const modifiers = dollar > 0 ? body.slice(dollar + 1).split(",") : [];
    if (modifiers.includes("badfilter")) {
      const rest = modifiers.filter((one) => one !== "badfilter");
      cancelled.add(`${isAllow ? "@@" : ""}${pattern}${rest.length > 0 ? `$${rest.join()}` : ""}`);
      continue;
    }
    if (modifiers.some((one) => one.startsWith("dnsrewrite"))) continue;
    const denied =
      modifiers
        .find((one) => one.startsWith("denyallow="))
        ?.slice(10)
        .split("|") ?? [];
    const test = isRegex ? regexTest(pattern.slice(1, -1)) : patternTest(pattern);
    rules.push({
      text,
      isAllow,
      isImportant: modifiers.includes("important"),
      matches: (name) =>
        test.test(name) && !denied.some((parent) => name === parent || name.endsWith(`.${parent}`)),
    });
  }
  return rules.filter(({ text }) => !cancelled.has(text));
}

/** What does not compile matches nothing. */
function regexTest(source: string): RegExp {
  try {
    return new RegExp(source, "i");
  } catch {
    return /(?!)/;
  }
}

function patternTest(pattern: string): RegExp {
  // A plain name is that name.
  if (/^[\w-]+(?:\.[\w-]+)+$/.test(pattern))
    return new RegExp(`^${pattern.replaceAll(".", "\\.")}$`, "i");
  const source = pattern
    .replace(/[.+?{}()[\]\\/$]/g, "\\$&")
    .replace(/^\|\|/, "(?:^|\\.)")
    .replace(/^\|/, "^")
    .replace(/[|^]+$/, "$$")
    .replaceAll("*", ".*");
  const isOdd = /[|^]/.test(pattern.replace(/^\|{1,2}|[|^]+$/g, ""));
  return isOdd ? /(?!)/ : regexTest(source);
}

/** The rule that decides about a name. */
export function decidingRule(rules: readonly NaiveRule[], name: string): NaiveRule | undefined {
  const matching = rules.filter((rule) => rule.matches(name));
  return (
    matching.find((rule) => rule.isAllow && rule.isImportant) ??
    matching.find((rule) => rule.isImportant) ??
    matching.find((rule) => rule.isAllow) ??
    matching[0]
  );
}

export function isBlocked(rules: readonly NaiveRule[], name: string): boolean {
  return decidingRule(rules, name)?.isAllow === false;
}
