interface NaiveRule {
  readonly level: number;
  /** Whether it is for the name alone, and whether it is for what is below it. */
  readonly self: boolean;
  readonly below: boolean;
  readonly denied: readonly string[];
}

const RULE = /^(?<allow>@@)?(?<pattern>[^$]*)(?:\$(?<modifiers>.*))?$/;

/** What a list means for names, read by hand and slowly: rules for names, and a few patterns, by AdGuard's precedence. */
export class NaiveNames {
  private readonly rules = new Map<string, NaiveRule[]>();
  /** Patterns by the last two labels of what they end in. */
  private readonly patterns = new Map<string, { level: number; test: RegExp }[]>();

  constructor(list: string) {
    const cancelled = new Set(
      list.split("\n").flatMap((line) => (line.endsWith("$badfilter") ? [line.slice(0, -10)] : [])),
    );
    for (const line of list.split("\n")) if (!cancelled.has(line)) this.enter(line);
  }

  private enter(line: string): void {
    if (line.startsWith("!")) return;
    const hosts = /^(?:0\.0\.0\.0|127\.0\.0\.1) (?<name>\S+)$/.exec(line)?.groups?.["name"];
    const { allow, pattern = "", modifiers = "" } = RULE.exec(line)?.groups ?? {};
    const level = (/\bimportant\b/.test(modifiers) ? 2 : 0) + (allow === undefined ? 1 : 2);
    const denied = /denyallow=(?<names>[^,]+)/.exec(modifiers)?.groups?.["names"]?.split("|") ?? [];
    const subtree = /^\|\|(?<name>[^*^|/$]+)\^$/.exec(pattern)?.groups?.["name"];
    const below = /^(?:\|\|\*)?\.(?<name>[^*^|/$]+)\^$/.exec(pattern)?.groups?.["name"];
    const exact =
      hosts ?? /^\|?(?<name>[a-z0-9_-][a-z0-9_.-]*)\^?$/.exec(pattern)?.groups?.["name"];
    const name = subtree ?? below ?? exact;
    if (name === undefined) {
      this.enterPattern(pattern, level);
      return;
    }
    const rule = {
      level,
      self: below === undefined,
      below: subtree !== undefined || below !== undefined,
      denied,
    };
    this.rules.set(name, [...(this.rules.get(name) ?? []), rule]);
  }

  private enterPattern(pattern: string, level: number): void {
    const { start, body } =
      /^(?<start>\|{1,2})(?<body>[^|^]*\*[^|^*]+)\^$/.exec(pattern)?.groups ?? {};
    if (body === undefined) return;
    const text = body.replaceAll(".", "\\.").replaceAll("*", ".*");
    const test = new RegExp(`${start === "||" ? "(?:^|\\.)" : "^"}${text}$`);
    const tail = tailOf(body);
    this.patterns.set(tail, [...(this.patterns.get(tail) ?? []), { level, test }]);
  }

  /** Whether a rule names it, so that a format that knows no subtrees blocks it too. */
  isNamed(name: string): boolean {
    return (this.rules.get(name) ?? []).some(({ self, level }) => self && level % 2 === 1);
  }

  isBlocked(name: string): boolean {
    let level = 0;
    for (const { level: own, test } of this.patterns.get(tailOf(name)) ?? [])
      if (test.test(name)) level = Math.max(level, own);
    for (let one = name; one !== ""; one = one.includes(".") ? one.slice(one.indexOf(".") + 1) : "")
      for (const rule of this.rules.get(one) ?? []) {
        const isOut = rule.denied.some((out) => name === out || name.endsWith(`.${out}`));
        if (!isOut && (one === name ? rule.self : rule.below)) level = Math.max(level, rule.level);
      }
    return level % 2 === 1;
  }
}

function tailOf(name: string): string {
  return name.split(".").slice(-2).join(".");
}
