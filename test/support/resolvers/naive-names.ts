/** What a list means for names, read by hand and slowly: only rules for names, by AdGuard's precedence. */
export class NaiveNames {
  private readonly rules = new Map<string, { level: number; self: boolean; below: boolean }[]>();

  constructor(list: string) {
    const cancelled = new Set(
      list.split("\n").flatMap((line) => (line.endsWith("$badfilter") ? [line.slice(0, -10)] : [])),
    );
    for (const line of list.split("\n")) if (!cancelled.has(line)) this.enter(line);
  }

  private enter(line: string): void {
    const hosts = /^(?:0\.0\.0\.0|127\.0\.0\.1) (?<name>\S+)$/.exec(line)?.groups?.["name"];
    const bare = line.replace(/^@@/, "").replace(/\$important$/, "");
    const isImportant = line.endsWith("$important");
    const level = (isImportant ? 2 : 0) + (line.startsWith("@@") ? 2 : 1);
    const subtree = /^\|\|(?<name>[^*^|/$]+)\^$/.exec(bare)?.groups?.["name"];
    const below = /^\|\|\*\.(?<name>[^*^|/$]+)\^$/.exec(bare)?.groups?.["name"];
    const exact = hosts ?? /^\|?(?<name>[a-z0-9_.-]+)\^?$/.exec(bare)?.groups?.["name"];
    const name = subtree ?? below ?? exact;
    if (name === undefined || line.startsWith("!")) return;
    const rule = {
      level,
      self: below === undefined,
      below: subtree !== undefined || below !== undefined,
    };
    this.rules.set(name, [...(this.rules.get(name) ?? []), rule]);
  }

  /** Whether a rule names it, so that a format that knows no subtrees blocks it too. */
  isNamed(name: string): boolean {
    return (this.rules.get(name) ?? []).some(({ self, level }) => self && level % 2 === 1);
  }

  isBlocked(name: string): boolean {
    let level = 0;
    for (let one = name; one !== ""; one = one.includes(".") ? one.slice(one.indexOf(".") + 1) : "")
      for (const rule of this.rules.get(one) ?? [])
        if (one === name ? rule.self : rule.below) level = Math.max(level, rule.level);
    return level % 2 === 1;
  }
}
